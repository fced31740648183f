"""A server that forks jobs: most jobs take less time than their imports.

Without it a job takes .4 s more of CPU: a run of gorla2022's jobs at smoke more than twice as much.

It is started with a run, imports libraries and stages once, and ends with the run. The process
that Snakemake starts for a job hands its script over, by a socket of this user, and waits for the
exit code. Here the script runs in a fork, watched like all jobs (see `watch`). Without a server, or
for a job that the server cannot run, the job itself imports the modules that it uses. On a cluster
each submission has a server of its own.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from epsilometer_workflow.runtime.variables import RUN, SERVER

_STARTED = b"s"
_HEADER = 64  # bytes: the number of bytes that follow, and the stage
_SECONDS = 1.0  # time limit for a client to send them
_LOOPS = "sample", "confirm", "histogram", "density", "classify", "screen"
_ALWAYS_CALLED = "snakemake.script", "epsilometer_workflow.runtime.supervision"
_CALLED = {  # modules that most jobs of a stage use and import late
    **dict.fromkeys(_LOOPS, ("numba",)),
    "estimate": ("scipy.special", "numba"),
    "summarise": ("scipy.special",),
    "render": ("matplotlib.pyplot", "matplotlib.backends.backend_pdf"),
}
_client: int | None = None  # in a fork of the server: the socket to its client


def client() -> int | None:
    """Return a descriptor that becomes readable when the job that was handed over is not wanted."""
    return _client


def handed_over(snakemake: Any, stage: str) -> int | None:
    """Let the run's server do a job; return its exit code, or None where there is no server.

    The server refuses jobs that use several cores, because libraries read that number when they are
    imported; and jobs of another environment, such as one that conda made, or of another run.
    """
    run, _, address = os.environ.get(SERVER, "").partition("|")
    environment, _, path = address.partition("|")
    if not path or _client is not None or snakemake.threads != 1:
        return None
    if environment != sys.prefix or run != os.environ.get(RUN):
        return None
    header, request = _request(stage)
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect(path)
            socket.send_fds(server, [header], [1, 2])
            server.sendall(request)
            if server.recv(1) != _STARTED:
                return None
        except OSError:
            return None
        return _waited(server)


def _request(stage: str) -> tuple[bytes, bytes]:
    """Return a request: the script, its folder and its environment."""
    import json

    script = os.path.abspath(sys.argv[0])  # noqa: PTH100
    request = json.dumps([script, os.getcwd(), dict(os.environ)]).encode()  # noqa: PTH109
    header = len(request).to_bytes(8, "little") + stage.encode().ljust(_HEADER - 8)
    return header, request


def _waited(server: socket.socket) -> int:
    """Return how a job ended; when this process is asked to end, ask for the job's end first."""

    def request_end(*_: object) -> None:
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, request_end)
    try:
        code = server.recv(1)
    except OSError:
        code = b""
    if not code:
        with suppress(OSError):
            os.write(2, b"epsilometer: the process that did this job was killed\n")
    return code[0] if code else 1


class Server:
    """The server's side: listens, imports, forks, and ends with its run."""

    def __init__(self, path: str, run: int) -> None:
        self._run = os.pidfd_open(run)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(64)

    def serve(self) -> None:
        """Fork for each request, until the run is gone."""
        import select

        poll = select.poll()
        poll.register(self._run, select.POLLIN)
        poll.register(self._listener, select.POLLIN)
        while self._run not in {descriptor for descriptor, _ in poll.poll()}:
            try:
                connection, _ = self._listener.accept()
                with connection:
                    self._fork(connection)
            except OSError as error:  # the client does that job itself; others go on
                print(f"not forked: {error}", file=sys.stderr, flush=True)

    def _fork(self, connection: socket.socket) -> None:
        connection.settimeout(_SECONDS)  # do not wait for a silent client
        header, descriptors, _, _ = socket.recv_fds(connection, _HEADER, 2)
        connection.settimeout(None)
        if len(header) == _HEADER and len(descriptors) == 2:
            _import(header[8:].decode().strip())
            if os.fork() == 0:
                self._listener.close()
                os.close(self._run)
                _become_job(connection, int.from_bytes(header[:8], "little"), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


@cache
def _import(stage: str) -> None:
    """Import what the jobs of a stage (a module) need, at the first of them."""
    import gc
    from importlib import import_module

    for module in (*_ALWAYS_CALLED, *_CALLED.get(stage.rpartition(".")[2], ())):
        import_module(module)
    with suppress(Exception):  # the job itself reports the error
        import_module(stage)
    gc.collect()
    gc.freeze()  # imported modules stay, and are shared with all forks


def _become_job(connection: socket.socket, size: int, descriptors: list[int]) -> None:
    """Run a script that was handed over, in this process, which then ends."""
    global _client  # noqa: PLW0603 (the fork is this job and nothing else)
    code = 1
    watcher = os.getpid()
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor, standard in zip(descriptors, (1, 2), strict=True):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        with connection.makefile("rb") as sent:
            request = sent.read(size)
        if len(request) < size:
            raise EOFError("the request ends too early")
        _client = connection.fileno()
        connection.sendall(_STARTED)
        code = _ran(request)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        if os.getpid() == watcher:
            with suppress(OSError):
                connection.sendall(bytes([code & 0xFF]))
        os._exit(code & 0xFF)


def _ran(request: bytes) -> int:
    """Run the script that Snakemake wrote for a job, as its interpreter would."""
    import json
    import runpy

    script, folder, environment = json.loads(request)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.environ.pop(SERVER, None)  # a job in a fork hands nothing over
    sys.argv = [script]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def main() -> None:
    """Serve at a socket (first argument) until a process (second argument) is gone."""
    path = sys.argv[1]
    run = int(sys.argv[2])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks are not waited for
    mask = os.umask(0o077)  # the socket is for this user
    server = Server(path, run)
    os.umask(mask)
    try:
        server.serve()
    finally:
        os.unlink(path)  # noqa: PTH108
