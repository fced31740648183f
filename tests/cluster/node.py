"""A real SLURM cluster in a folder of its own: munged, slurmctld, and a slurmd for each node.

Each node is this machine, with a slurmd, a port and a spool of its own, and can be taken down.
Needs root and Debian's packages ``slurm-wlm`` and ``munge``; nothing of the machine's own SLURM or
munge is read, changed or stopped. No accounting, no cgroups, no systemd.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.unit.processes import ran

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
_CONF = """\
ClusterName=epsilometer
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
KillWait=2
MinJobAge=86400
MaxJobCount=100000
JobRequeue={requeue:d}
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_NODE = """\
NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} \
RealMemory={megabytes} State=UNKNOWN"""


def missing() -> str | None:
    """Return why no cluster can be brought up here; ``None`` where one can."""
    if os.geteuid() != 0:
        return "needs root"
    absent = [name for name in _PROGRAMS if shutil.which(name) is None]
    if absent:
        return f"needs {', '.join(absent)}: apt-get install --no-install-recommends slurm-wlm munge"
    return None


@dataclass
class Cluster:
    """Its folder, the environment of its clients, and its daemons."""

    folder: Path
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead SLURM's clients to this cluster."""
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def ask(self, *command: str) -> str:
        """Run one of SLURM's clients and return its output."""
        run = ran(*command, env=self.environment)
        if run.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {run.stderr.strip()}")
        return run.stdout

    def take_down(self, node: str) -> list[str]:
        """Let a node die with all that runs on it; return the numbers of the jobs it had."""
        running = ("--noheader", "--states=running", "--format=%i", f"--nodelist={node}")
        lost = self.ask("squeue", *running)
        self.daemons[node].kill()
        self.daemons[node].wait()
        self._kill_jobs(node)
        self.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=killed")
        return lost.split()

    def start(self, name: str, program: str, *arguments: str) -> None:
        """Start one of the daemons."""
        with (self.folder / f"{name}.out").open("wb") as out:
            self.daemons[name] = subprocess.Popen(
                [shutil.which(program) or program, *arguments],
                env=self.environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def stop(self) -> None:
        """End all jobs, then all daemons, by the pids of what was started."""
        if "slurmctld" in self.daemons:
            subprocess.run(
                ["scancel", "--user=root", "--signal=KILL", "--full"],
                env=self.environment,
                check=False,
                capture_output=True,
                timeout=30,
            )
        for process in reversed(self.daemons.values()):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._kill_jobs()

    def _kill_jobs(self, node: str = "") -> None:
        """Kill the processes of jobs on a node, or on all; their supervisors first."""
        pids = [int(place.name) for place in Path("/proc").iterdir() if place.name.isdigit()]
        of_jobs = {process for pid in pids for process in self._of_job(pid, node)}
        for pid in sorted(of_jobs, key=lambda pid: _name_of(pid) != "slurmstepd"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _of_job(self, pid: int, node: str) -> list[int]:
        """Return a process of a job of this cluster, and SLURM's own above it; else nothing."""
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            return []
        there = f"SLURMD_NODENAME={node}\0" if node else "SLURMD_NODENAME="
        if there not in variables or f"{self.folder}/" not in variables:
            return []
        return [pid, parent] if _name_of(parent) == "slurmstepd" else [pid]


@contextmanager
def cluster(
    folder: Path, *, cpus: int, megabytes: int = 8000, nodes: int = 1, requeue: bool = True
) -> Iterator[Cluster]:
    """Bring a cluster up in ``folder``, and take it down again.

    Its nodes are ``node1``, ``node2`` and so on, each of ``cpus`` and ``megabytes``; ``requeue``
    says whether SLURM itself starts jobs of a lost node again, as it does unless it is told not to.
    """
    here = Cluster(folder)
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir(parents=True)
    _wrap_srun(folder)
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    folder.chmod(0o755)
    host = socket.gethostname().partition(".")[0]
    port, *ports = _free_ports(1 + nodes)
    names = [f"node{i}" for i in range(1, nodes + 1)]
    size = {"host": host, "cpus": cpus, "megabytes": megabytes}
    lines = [_NODE.format(name=n, port=p, **size) for n, p in zip(names, ports, strict=True)]
    conf = _CONF.format(
        host=host, port=port, folder=folder, requeue=requeue, nodes="\n".join(lines)
    )
    (folder / "slurm.conf").write_text(conf)
    try:
        here.start(
            *("munged", "munged", "--foreground", "--force", f"--key-file={key}"),
            *(f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid"),
            *(f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"),
        )
        _until((folder / "munge.socket").exists, "munged", here)
        here.start("slurmctld", "slurmctld", "-D", "-f", str(folder / "slurm.conf"))
        for name in names:
            (folder / "spool" / name).mkdir()
            here.start(name, "slurmd", "-D", "-N", name, "-f", str(folder / "slurm.conf"))
        _until(lambda: _idle(here) == nodes, "slurmd", here)
        yield here
    finally:
        here.stop()


def _wrap_srun(folder: Path) -> None:
    """Let srun find this cluster also where SLURM's variables are taken from its environment."""
    srun = folder / "bin" / "srun"
    conf, real = shlex.quote(str(folder / "slurm.conf")), shutil.which("srun")
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={conf} exec {real} "$@"\n')
    srun.chmod(0o755)


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _idle(here: Cluster) -> int:
    """Return how many nodes are ready."""
    try:
        return here.ask("sinfo", "--noheader", "--Node", "--format=%T").split().count("idle")
    except RuntimeError:
        return 0


def _until(true: Callable[[], bool], daemon: str, here: Cluster) -> None:
    deadline = time.monotonic() + 60
    while not true():
        dead = [name for name, process in here.daemons.items() if process.poll() is not None]
        if dead or time.monotonic() > deadline:
            logs = "\n".join(
                f"{p.name}: {p.read_text(errors='replace')[-800:]}"
                for p in sorted(here.folder.glob("*.log")) + sorted(here.folder.glob("*.out"))
            )
            raise RuntimeError(f"{daemon} did not come up in {here.folder}\n{logs}")
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for open_socket in sockets:
            open_socket.bind(("127.0.0.1", 0))
        return [open_socket.getsockname()[1] for open_socket in sockets]
    finally:
        for open_socket in sockets:
            open_socket.close()
