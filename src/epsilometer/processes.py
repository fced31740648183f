"""Child processes: their threads and arithmetic, why one ended, and what it left behind."""

import os
import signal
from contextlib import suppress
from pathlib import Path

ONE_THREAD = {  # a fork copies one thread only: no other thread may hold a lock
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")},
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}

COMMON_ARITHMETIC = {  # of every x86-64: newer processors add and take logarithms in other ways
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}


def cause_of(code: int) -> str:
    """Return why a process ended without an answer, from its exit code or minus its signal."""
    if code < 0:
        hint = ", as systems do when memory runs out" if -code == signal.SIGKILL else ""
        return f"crashed: {signal.strsignal(-code)} (signal {-code}){hint}"
    return f"ended the interpreter with exit code {code}"


def has_ended(process: int) -> bool:
    """Return whether a process is gone, or a zombie."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    state = status.rpartition(")")[2].split()[0]  # it follows the program's name, in brackets
    return state in ("Z", "X")


def end_orphans() -> None:
    """Stop the processes of a child in sessions of their own, such as the workers of an audit."""
    pid = os.getpid()
    for _ in range(100):  # children of a killed orphan become orphans
        try:
            orphans = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        except OSError:  # some kernels do not have this file
            return
        if not orphans:
            return
        for orphan in map(int, orphans):
            with suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)
