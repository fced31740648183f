"""A sweep beyond one machine: tried without running it, then run on nodes of which one dies.

make sweep [JOBS=5000] [DRY=50000] [SWEEP=folder]     again, it goes on with what is there

Each step says what it found, and everything stands in ``found.json``:

dry      the time and the memory of the configuration's checks and of a dry run
cluster  the sweep and the smoke scale of the study through SLURM; once half of the jobs are done
         a node is killed with all that it runs. Nothing may be missing or half-written, and nothing
         may be left to do
local    the same without a cluster; all tables must be the same to the byte
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.products import Product
from tests.cluster.node import Cluster, cluster, missing
from tests.cluster.sweep import ROOT, write_sweep
from tests.products import all_products, jobs_by_rule
from tests.workflow.conftest import Project, copy_project

SMOKE = ("--config", "scale=smoke")
PROFILE = ("--profile", "profiles/slurm", "--seconds-between-status-checks", "2")
PROFILE += ("--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5")
_PR_SET_CHILD_SUBREAPER = 36
_TOOK = re.compile(r"took [\d.]+ s, ([\d.]+) s of CPU, \d+ MB")
_ON = re.compile(r"\(SLURM job (\d+) on (\S+)\)")


def main() -> None:
    """Run the requested steps, and end with an error where one finds a difference."""
    parser = argparse.ArgumentParser(prog="beyond", description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where everything is made")
    parser.add_argument("--jobs", type=int, default=5000, help="of the sweep that is run")
    parser.add_argument("--dry", type=int, default=50000, help="of the sweep that is not")
    parser.add_argument("--steps", default="dry,cluster,local", help="which, in this order")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="of this machine")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--cpus", type=int, default=2, help="of each node")
    parser.add_argument("--without-study", action="store_true", help="the sweep and nothing else")
    parser.add_argument("--no-requeue", action="store_true", help="leave lost jobs to Snakemake")
    arguments = parser.parse_args()
    if "cluster" in arguments.steps and missing():
        raise SystemExit(f"SLURM: {missing()}")
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # see `hours_of_children`
    arguments.folder.mkdir(parents=True, exist_ok=True)
    file = arguments.folder / "found.json"
    size = [arguments.jobs, arguments.dry, not arguments.without_study]
    results = json.loads(file.read_text()) if file.is_file() else {"asked": size}
    if results["asked"] != size:
        raise SystemExit(f"{arguments.folder} holds a sweep of another size: {results['asked']}")
    wrong = []
    for step in arguments.steps.split(","):
        print(f"== {step}", flush=True)
        began = time.monotonic()
        results[step] = {"dry": dry, "cluster": beyond, "local": local}[step](arguments)
        results[step]["minutes"] = round((time.monotonic() - began) / 60, 1)
        file.write_text(json.dumps(results, indent=1) + "\n")
        print(json.dumps(results[step], indent=1), flush=True)
        wrong += [f"{step}: {name}" for name, well in results[step].items() if well is False]
    if wrong:
        raise SystemExit(f"not as it should be: {', '.join(wrong)}")


def project_of(arguments: argparse.Namespace, name: str, jobs: int, *, with_study: bool) -> Project:
    """Return the project of a step, which is made unless it is there."""
    folder = arguments.folder / name
    if not (folder / "Snakefile").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(arguments.folder / "config", ignore_errors=True)
        others = jobs_of(study_of(Project(ROOT))) if with_study else 0
        write_sweep(arguments.folder / "config", jobs - others, with_study=with_study)
        copy_project(folder, arguments.folder / "config")
    return Project(folder)


def study_of(project: Project) -> Study:
    return Study(project.folder / "config", {"scale": "smoke"})


def jobs_of(study: Study) -> int:
    return jobs_by_rule(study).total()


def hours_of_children(known: Collection[int] = ()) -> float:
    """Return the CPU hours of all processes that this one has started and that have ended.

    What they left behind has become ours, and counts once it is waited for.
    """
    children = {
        int(pid)
        for task in Path("/proc/self/task").iterdir()
        for pid in (task / "children").read_text().split()
    }
    for pid in children - set(known):
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) / 3600


# -- a dry run ------------------------------------------------------------------------------------


def dry(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the time before the first job of a sweep that is too large to be run here."""
    project = project_of(arguments, "dry", arguments.dry, with_study=not arguments.without_study)
    checking = "epsilometer_workflow.products.checking"
    checks = f"from {checking} import checked; checked('config', {{'scale': 'smoke'}})"
    tried = ("-m", "snakemake", "--dry-run", "--quiet", "all", *SMOKE)
    results: dict[str, Any] = {"jobs": jobs_of(study_of(project))}
    results["checks"] = measured(project, "-c", checks)
    results["dry_run"] = measured(project, *tried, "--cores", "1")
    results["dry_run_slurm"] = measured(project, *tried, *PROFILE, *merged(results["jobs"]))
    return results


def measured(project: Project, *command: str) -> dict[str, float]:
    """Run Python in a project; return seconds, seconds of CPU, and megabytes at the largest."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    with (project.folder / "tried.out").open("w") as out:
        began = time.monotonic()
        tried = subprocess.Popen(
            [sys.executable, *command], cwd=project.folder, env=environment, stdout=out, stderr=out
        )
        _, status, used = os.wait4(tried.pid, 0)
    if status:
        raise RuntimeError((project.folder / "tried.out").read_text()[-3000:])
    return {
        "seconds": round(time.monotonic() - began, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "megabytes": round(used.ru_maxrss * 1024 / 1e6),
    }


# -- through SLURM --------------------------------------------------------------------------------


def beyond(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the sweep on several nodes, let one die, and check the results."""
    project = project_of(
        arguments, "cluster", arguments.jobs, with_study=not arguments.without_study
    )
    study = study_of(project)
    products = list(all_products(study))
    place = arguments.folder / "slurm"
    shutil.rmtree(place, ignore_errors=True)
    before, began = hours_of_children(), time.monotonic()
    size = {"cpus": arguments.cpus, "nodes": arguments.nodes, "requeue": not arguments.no_requeue}
    with cluster(place, **size) as here:
        run = started(project, here, len(products))
        try:
            watch = Watch(project, here, run, len(products))
            code = run.wait()
            seconds = time.monotonic() - began
            watch.stop()
            submissions = submissions_of(here)
        finally:
            run.kill()
    if code:
        raise RuntimeError((project.folder / "run.out").read_text()[-3000:])
    made_there = (project.folder / "results", project.folder / ".snakemake")
    files = [p for folder in made_there for p in folder.rglob("*") if p.is_file()]
    again = Project(project.folder).snakemake("--dry-run", *SMOKE)
    return {
        "jobs": len(products),
        "seconds": round(seconds),
        "hours_of_everything": round(hours_of_children() - before, 3),
        **watch.found,
        **submissions,
        "files": len(files),
        "nothing_missing": all(
            Path(project.folder, product.file).is_file() for product in products
        ),
        "nothing_half_written": not [p for p in files if ".part." in p.name],
        "nothing_left_to_do": "Nothing to be done" in again.stdout + again.stderr,
        **jobs_on(project, products),
    }


def merged(jobs: int) -> list[str]:
    """Return what makes small jobs worth a submission, and enough submissions for all nodes."""
    chains = min(max(jobs // 50, 2), 32)  # of three jobs each
    return ["--group-components", f"chain={chains}", f"experiment={chains // 6 + 1}", "artifact=20"]


def started(project: Project, here: Cluster, jobs: int) -> subprocess.Popen[bytes]:
    environment = {k: v for k, v in here.environment.items() if k != "PYTHONPATH"}
    with (project.folder / "run.out").open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *PROFILE, *merged(jobs), *SMOKE],
            cwd=project.folder,
            env=environment,
            stdout=out,
            stderr=out,
        )


class Watch:
    """Looks at a run every few seconds, and takes a node down when half of its jobs are done."""

    def __init__(
        self, project: Project, here: Cluster, run: subprocess.Popen[bytes], jobs: int
    ) -> None:
        self.found: dict[str, Any] = {"node_lost": None, "squeue_seconds": 0.0}
        self._project, self._here, self._run, self._jobs = project, here, run, jobs
        self._end, self._began = Event(), time.monotonic()
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more; the times of the daemons and Snakemake are known by then."""
        self._end.set()
        self._thread.join()
        self.found["slurmctld_cpu_seconds"] = cpu_seconds(self._here.daemons["slurmctld"].pid)

    def _look(self) -> None:
        known = {self._run.pid, *(daemon.pid for daemon in self._here.daemons.values())}
        while not self._end.wait(5):
            hours_of_children(known)
            self._snakemake()
            start = time.monotonic()
            queue = self._here.ask("squeue", "--noheader", "--format=%T").split()
            took = time.monotonic() - start
            self.found["squeue_seconds"] = max(self.found["squeue_seconds"], round(took, 2))
            if queue:
                since = round(time.monotonic() - self._began)
                self.found.setdefault("seconds_to_first_submission", since)
            if self.found["node_lost"] is None:
                self._take_down()

    def _take_down(self) -> None:
        """Take the node down that has most to do, once half of the jobs are done."""
        done = (self._project.folder / "results/smoke/benchmarks").rglob("*.tsv")
        if 2 * sum(1 for _ in done) < self._jobs:
            return
        busy = self._here.ask("squeue", "--states=running", "--noheader", "--format=%N").split()
        if not busy:
            return
        node = max(busy, key=busy.count)
        self.found["submissions_lost"] = len(self._here.take_down(node))
        self.found["node_lost"] = node
        self.found["seconds_to_loss"] = round(time.monotonic() - self._began)
        print(f"{node} is down, with {self.found['submissions_lost']} submissions", flush=True)

    def _snakemake(self) -> None:
        try:
            status = Path(f"/proc/{self._run.pid}/status").read_text()
            self.found["snakemake_cpu_seconds"] = cpu_seconds(self._run.pid)
        except OSError:
            return
        if held := re.search(r"VmHWM:\s+(\d+) kB", status):
            self.found["snakemake_megabytes"] = round(int(held[1]) * 1024 / 1e6)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def submissions_of(here: Cluster) -> dict[str, Any]:
    """Return how many submissions there were, how they ended, and how long they held a core."""
    lines = here.ask("squeue", "--states=all", "--noheader", "--format=%T|%M").splitlines()
    shown = here.ask("scontrol", "show", "job", "--oneliner")
    ended: dict[str, int] = defaultdict(int)
    seconds = 0
    for line in lines:
        state, _, elapsed = line.partition("|")
        ended[state] += 1
        days, _, clock = elapsed.rpartition("-")
        parts = [int(part) for part in clock.split(":")]
        seconds += 86400 * int(days or 0)
        seconds += sum(part * 60**i for i, part in enumerate(reversed(parts)))
    return {
        "submissions": len(lines),
        "ended": dict(ended),
        "requeued": sum(int(n) > 0 for n in re.findall(r" Restarts=(\d+)", shown)),
        "core_hours_of_submissions": round(seconds / 3600, 2),
    }


def jobs_on(project: Project, products: list[Product]) -> dict[str, Any]:
    """Return the number of jobs of each node, and the hours of all."""
    hours, nodes = 0.0, defaultdict[str, int](int)
    for product in products:
        text = (project.folder / paths.log(product.path)).read_text()
        hours += float(_TOOK.findall(text)[-1][0]) / 3600
        nodes[_ON.findall(text)[-1][1]] += 1
    return {"jobs_on": dict(nodes), "hours_of_jobs": round(hours, 3)}


# -- the same on this machine ---------------------------------------------------------------------


def local(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the sweep without a cluster and compare all tables."""
    project = project_of(arguments, "local", arguments.jobs, with_study=not arguments.without_study)
    before, began = hours_of_children(), time.monotonic()
    run = project.snakemake(*SMOKE, cores=arguments.cores)
    assert run.returncode == 0, run.stderr[-3000:]
    took = {"seconds": round(time.monotonic() - began)}
    took["hours_of_everything"] = round(hours_of_children() - before, 3)
    here, there = project.tables(), Project(arguments.folder / "cluster").tables()
    differ = sorted(
        name for name in here.keys() | there.keys() if here.get(name) != there.get(name)
    )
    return {**took, "tables": len(here), "differ": differ[:20], "tables_are_the_same": not differ}


if __name__ == "__main__":
    main()
