"""A run's server does jobs in forks of its own; a failure of any of the three is reported."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from epsilometer.processes import ONE_THREAD
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.parsing import Batch, Draws
from epsilometer_workflow.files.storage import read_samples
from epsilometer_workflow.products.reductions import Samples
from epsilometer_workflow.runtime.variables import RUN, SERVER
from tests.unit.loading import EVERY_STAGE, STAGES, printed
from tests.unit.processes import gone, pid_in, until

ASKER = """
from types import SimpleNamespace

from epsilometer_workflow.runtime.forkserver import handed_over

snakemake = SimpleNamespace(
    rule="demo", threads={threads}, wildcards=["some"], resources={{"runtime": 1, "mem_mb": 900}},
    log=["results/smoke/logs/demo.log"], output=["results/smoke/demo.txt"],
)
if (code := handed_over(snakemake, "demo")) is not None:
    raise SystemExit(code)
from epsilometer_workflow.runtime.supervision import kept

with kept(snakemake) as progress:
    {body}
"""
STAGE = """
from types import SimpleNamespace

__file__ = {file!r}
snakemake = SimpleNamespace(
    rule="sample", threads=1, wildcards=["some"], params=SimpleNamespace(spec={spec!r}),
    log=["results/smoke/logs/demo.log"], output=["results/smoke/{output}.parquet"],
)
{text}
raise RuntimeError("it goes on after `start`")
"""
SERVE = "from epsilometer_workflow.runtime.forkserver import main; main()"
WAITS = "open('pid', 'w').write(str(__import__('os').getpid())); __import__('time').sleep(60)"


class Run:
    """A process that stands for a run's Snakemake, with its server, and jobs that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "a.socket"
        self.over = subprocess.Popen(["sleep", "600"])
        self.environment = os.environ | {"PYTHONPATH": str(Path("src").absolute())}
        self.server = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE, "a.socket", str(self.over.pid)],
            cwd=folder,
            env=self.environment,
        )
        assert until(self.socket.exists)

    def ask(self, body: str, *, threads: int = 1, **environment: str) -> "subprocess.Popen[str]":
        return self.start(ASKER.format(body=body, threads=threads), **environment)

    def start(self, script: str, **environment: str) -> "subprocess.Popen[str]":
        (self.folder / "demo.py").write_text(script)
        place = f"{self.over.pid}|{sys.prefix}|a.socket"
        return subprocess.Popen(
            [sys.executable, "demo.py"],
            cwd=self.folder,
            env=self.environment | {SERVER: place, RUN: str(self.over.pid)} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def succeeds(self, body: str) -> bool:
        asker = self.ask(body)
        asker.communicate(timeout=120)
        return asker.returncode == 0

    def job(self) -> int:
        """Return the process that does the job, once it is at work."""
        return pid_in(self.folder / "pid")

    def log(self) -> str:
        return (self.folder / "results/smoke/logs/demo.log").read_text()

    def end(self) -> None:
        for process in (self.over, self.server):
            process.kill()
            process.wait()


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    server = Run(tmp_path)
    yield server
    server.end()


def test_a_job_is_done_in_a_fork_as_the_asker_would(run: Run):
    body = "import os; state = os.getcwd(), os.environ['MARK'], str(os.getpid()); "
    body += "open('state', 'w').write(' '.join(state))"
    asker = run.ask(body + "; print('said'); progress('half way')", MARK="here")
    out, err = asker.communicate(timeout=120)
    assert (asker.returncode, out, err) == (0, "", "")
    folder, mark, pid = (run.folder / "state").read_text().rsplit(" ", 2)
    assert (folder, mark) == (str(run.folder), "here")
    assert int(pid) not in (asker.pid, run.server.pid)
    assert "start demo some" in run.log()
    assert "printed: said" in run.log()
    assert "half way" in run.log()
    assert "took " in run.log()


def test_a_stage_is_a_script_that_is_handed_over_before_its_imports(run: Run, study: Study):
    """With the same output as where it is run without a server; imported, it is a module."""
    drawn = Samples(study, "truncated-laplace", 1.0, "ends", Draws(50), Batch(0, 1))
    file = STAGES / "sample.py"
    head, tail = file.read_text().split("start(globals())")
    assert "import" in tail
    assert re.findall(r"^(?:from|import).*", head, re.MULTILINE) == [
        "from epsilometer_workflow.runtime.job import Progress, start"
    ]
    for output, environment in (("forked", {}), ("alone", {SERVER: ""})):
        script = STAGE.format(
            file=str(file), spec=drawn.spec(), output=output, text=file.read_text()
        )
        asker = run.start(script, **environment)
        assert asker.communicate(timeout=120) == ("", "")
        assert asker.returncode == 0
        rows = run.folder / f"results/smoke/{output}.parquet"
        assert [run for run, _, _ in read_samples(str(rows), drawn.job())] == [0, 0, 1, 1]
    forked, alone = (run.folder / f"results/smoke/{name}.parquet" for name in ("forked", "alone"))
    assert forked.read_bytes() == alone.read_bytes()


LIES = """import contextlib, os
    for fd in range(3, 99):
        with contextlib.suppress(OSError):
            os.write(fd, bytes(1))
    raise RuntimeError('no')"""  # that its exit code is 0, to all that it could write to


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("__import__('os').abort()", "crashed: Aborted"),
        ("__import__('os')._exit(0)", "ended the interpreter with exit code 0"),
        (LIES, "epsilometer: RuntimeError: no"),
    ],
)
def test_a_failure_is_reported_and_the_server_goes_on(run: Run, body: str, message: str):
    asker = run.ask(body)
    assert message in asker.communicate(timeout=120)[1]
    assert asker.returncode == 1
    assert run.succeeds("pass")
    assert run.server.poll() is None


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_job_ends_with_its_asker(run: Run, how: signal.Signals):
    asker = run.ask("open('results/smoke/demo.1.part.txt', 'w'); " + WAITS)
    job = run.job()
    asker.send_signal(how)
    asker.communicate(timeout=120)
    assert asker.returncode == (1 if how != signal.SIGKILL else -how)
    assert until(lambda: gone(job))
    assert until(lambda: "was interrupted" in run.log())
    assert until(lambda: not list(run.folder.rglob("*.part.*")))


def test_without_a_server_a_job_is_done_as_before(run: Run):
    waiting = run.ask(WAITS)
    job = run.job()
    run.server.kill()
    run.server.wait()
    assert run.succeeds("pass")
    assert not gone(job)  # a job that was begun goes on
    waiting.kill()
    waiting.communicate()
    assert until(lambda: gone(job))


@pytest.mark.parametrize("changed", ["run", "environment", "threads"])
def test_a_job_that_it_cannot_do_is_left_alone(run: Run, changed: str):
    """As where conda has made one, whose libraries the server does not have."""
    owner = 1 if changed == "run" else run.over.pid
    place = f"{owner}|{'/elsewhere' if changed == 'environment' else sys.prefix}|a.socket"
    asker = run.ask(WAITS, threads=1 + (changed == "threads"), **{SERVER: place})
    assert parent_of(run.job()) == asker.pid
    asker.terminate()
    asker.communicate(timeout=120)


def test_a_killed_watcher_is_reported_and_processes_left_by_a_mechanism_block_no_asker(run: Run):
    left = "import os; os.fork() or (os.setsid(), open('left', 'w').write(str(os.getpid())), "
    asker = run.ask(left + "__import__('time').sleep(60), os._exit(0)); " + WAITS)
    job = run.job()
    began = time.monotonic()
    os.kill(parent_of(job), signal.SIGKILL)
    asker.wait(120)
    assert asker.returncode == 1
    assert time.monotonic() - began < 40
    assert until(lambda: gone(job))
    os.kill(int((run.folder / "left").read_text()), signal.SIGKILL)
    assert "the process that did this job was killed" in asker.communicate()[1]


def test_a_silent_connection_does_not_block_the_server(run: Run):
    with socket.socket(socket.AF_UNIX) as silent:
        assert until(lambda: silent.connect_ex(str(run.socket)) == 0)  # once the server listens
        began = time.monotonic()
        assert run.succeeds("pass")
        assert time.monotonic() - began < 60


def test_the_server_ends_with_its_run_and_leaves_nothing(run: Run):
    assert stat.S_IMODE(run.socket.stat().st_mode) & 0o077 == 0  # no one else's business
    run.over.kill()
    run.over.wait()
    assert run.server.wait(60) == 0
    assert not run.socket.exists()


@pytest.mark.slow(seconds=2)
def test_a_server_that_has_imported_everything_has_no_other_thread():
    """A fork copies the calling thread only; another one's locks would stay taken for ever."""
    program = (
        "import os; from epsilometer_workflow.runtime.forkserver import _import\n"
        f"for stage in {EVERY_STAGE}: _import('epsilometer_workflow.stages.' + stage)\n"
        "print(len(os.listdir('/proc/self/task')))"
    )
    assert printed(program, **ONE_THREAD) == "1"
