"""A real SLURM cluster of one node, in a folder of its own: munged, slurmctld, slurmd.

Needs root and Debian's packages ``slurm-wlm`` and ``munge``; nothing of the machine's own SLURM or
munge is read, changed or stopped. No accounting, no cgroups, no systemd.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
_CONF = """\
ClusterName=epsilometer
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
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
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={megabytes} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


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
    """Where its files are, and what its clients need in their environment."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What makes SLURM's clients talk to this cluster."""
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def ask(self, *command: str) -> str:
        """Run one of SLURM's clients and return what it prints."""
        run = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        if run.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {run.stderr.strip()}")
        return run.stdout


@contextmanager
def cluster(folder: Path, *, cpus: int, megabytes: int = 8000) -> Iterator[Cluster]:
    """Bring a cluster up in ``folder``; take it down again by the pids of what was started."""
    here = Cluster(folder)
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir(parents=True)
    _wrap_srun(folder)
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    folder.chmod(0o755)
    conf = _CONF.format(
        host=socket.gethostname().partition(".")[0],
        ports=_free_ports(2),
        folder=folder,
        cpus=cpus,
        megabytes=megabytes,
    )
    (folder / "slurm.conf").write_text(conf)
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> None:
        with (folder / f"{name}.out").open("wb") as out:
            process = subprocess.Popen(
                [shutil.which(name) or name, *arguments],
                env=here.environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        started.append(process)

    try:
        start(
            "munged",
            *("--foreground", "--force", f"--key-file={key}"),
            *(f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid"),
            *(f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"),
        )
        _until((folder / "munge.socket").exists, "munged", folder, started)
        start("slurmctld", "-D", "-f", str(folder / "slurm.conf"))
        start("slurmd", "-D", "-f", str(folder / "slurm.conf"))
        _until(lambda: _idle(here), "slurmd", folder, started)
        yield here
    finally:
        if len(started) > 1:
            subprocess.run(
                ["scancel", "--user=root", "--signal=KILL", "--full"],
                env=here.environment,
                check=False,
                capture_output=True,
                timeout=30,
            )
        for process in reversed(started):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wrap_srun(folder: Path) -> None:
    """Let srun find this cluster also where SLURM's variables are taken from its environment."""
    srun = folder / "bin" / "srun"
    conf, real = shlex.quote(str(folder / "slurm.conf")), shutil.which("srun")
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={conf} exec {real} "$@"\n')
    srun.chmod(0o755)


def _idle(here: Cluster) -> bool:
    try:
        return "idle" in here.ask("sinfo", "--noheader", "--format=%T")
    except RuntimeError:
        return False


def _until(true, what: str, folder: Path, started: list[subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        dead = [p for p in started if p.poll() is not None]
        if dead or time.monotonic() > deadline:
            logs = "\n".join(
                f"{p.name}: {p.read_text(errors='replace')[-800:]}"
                for p in sorted(folder.glob("*.log")) + sorted(folder.glob("*.out"))
            )
            raise RuntimeError(f"{what} did not come up in {folder}\n{logs}")
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
