"""Child processes: their threads, and why one ended."""

import signal

ONE_THREAD = {  # a fork copies one thread only: no other thread may hold a lock
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")},
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


def cause_of(code: int) -> str:
    """Return why a process ended without an answer, from its exit code or minus its signal."""
    if code < 0:
        hint = ", as systems do when memory runs out" if -code == signal.SIGKILL else ""
        return f"crashed: {signal.strsignal(-code)} (signal {-code}){hint}"
    return f"ended the interpreter with exit code {code}"
