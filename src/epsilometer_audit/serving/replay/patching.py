"""A recorder between a mechanism and its sources of randomness, all of which get seeds.

These are NumPy's generators and old functions, ``scipy.stats``, Python's ``random`` and
``secrets``, and ``os.urandom``. Use it only in a separate process.
"""

from __future__ import annotations

import _random
import contextlib
import gc
import os
import random
import re
import secrets
import sys
from typing import Any

from ..modules import np
from .recording import Recorder

_NO_DRAWS = frozenset(("seed", "spawn", "get_state", "set_state", "getstate", "setstate"))


class Sources:
    """All sources of randomness of this process, recorded from now on; see `seed`."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._system = _random.Random(0)  # in its place
        of_numpy = () if np is None else (np.random.Generator, np.random.RandomState)
        self._kinds: tuple[Any, ...] = (random.Random, *of_numpy)
        self._known: list[Any] = []  # generators
        self._twins: dict[Any, Any] = {}  # a class that is recorded, by the class that is not
        self._replaced: dict[int, tuple[Any, Any]] = {}  # old and new objects, by the old one's id
        self._patch_system()
        self._patch_python()
        if np is not None:
            self._patch_numpy()
        self._stats: Any = None
        self.refresh()
        self._patch_imported_names()

    def seed(self, seed: int) -> None:
        """Put every source into a state that follows from a seed."""
        with self.recorder.paused():
            self._system.seed(seed)
            for i, source in enumerate(self._known, start=1):  # also those of modules
                source_seed = (seed + 7919 * i) % 2**32
                with contextlib.suppress(Exception):  # of the user's own kind
                    if hasattr(source, "seed"):
                        source.seed(source_seed)
                    else:
                        bits = source.bit_generator
                        bits.state = type(bits)(source_seed).state

    def refresh(self) -> None:
        """Find all generators, and record ``scipy.stats``; after modules have been loaded."""
        found = (each for each in gc.get_objects() if issubclass(type(each), self._kinds))
        self._known += [each for each in found if not isinstance(each, random.SystemRandom)]
        gc.freeze()  # what has been looked at is looked at no more, and stays in memory of forks
        module: Any = sys.modules.get("scipy.stats._distn_infrastructure")
        if module is not self._stats:
            self._stats, kind = module, module.rv_generic  # which scales NumPy's draws
            kind.rvs = self.recorder.wrapped(kind.rvs, "rvs", _of_stats)

    def _put(self, owner: Any, name: str, new: Any) -> None:
        old = vars(owner).get(name)
        if old is not None:
            self._replaced[id(old)] = (old, new)
        setattr(owner, name, new)

    def _patch_imported_names(self) -> None:
        """Replace objects that modules have imported by name."""
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            if type(names) is not dict or names is globals():
                continue
            for name, value in list(names.items()):
                old, new = self._replaced.get(id(value), (None, None))
                if old is value and new is not None:
                    names[name] = new
                elif type(value) in self._twins:
                    bits = getattr(value, "bit_generator", None) or value._bit_generator
                    names[name] = self._twins[type(value)](bits)

    def _bytes(self, size: int) -> bytes:
        return self._system.getrandbits(8 * size).to_bytes(size, "little") if size else b""

    def _patch_system(self) -> None:
        record = self.recorder.of_function
        self._put(os, "urandom", record(self._bytes, "os.urandom", "size"))
        random._urandom = self._bytes  # type: ignore[attr-defined]
        parameters = {"randbits": "k", "randbelow": "limit", "choice": "sequence"}
        parameters.update(dict.fromkeys(("token_bytes", "token_hex", "token_urlsafe"), "nbytes"))
        for name, names in parameters.items():
            self._put(secrets, name, record(getattr(secrets, name), f"secrets.{name}", names))

    def _patch_python(self) -> None:
        hidden: Any = random._inst
        for kind in (random.Random, random.SystemRandom):
            for name in dir(kind) if kind is random.Random else list(vars(kind)):
                function = getattr(kind, name)
                if name[0] != "_" and callable(function) and name not in _NO_DRAWS:
                    setattr(kind, name, self.recorder.wrapped(function, name))
        plain, fresh = random.Random.seed, self._bytes

        def seed(source: Any, a: Any = None, version: int = 2) -> None:
            plain(source, int.from_bytes(fresh(32), "big") if a is None else a, version)

        own: Any = random.Random
        own.seed = self.recorder.wrapped(seed, "seed", "seed", "seed")
        own.__init__ = self.recorder.wrapped(own.__init__, "Random", "seed", "seed")
        for name in list(vars(random)):
            if getattr(vars(random)[name], "__self__", None) is hidden:
                self._put(random, name, getattr(hidden, name))

    def _patch_numpy(self) -> None:
        module, old = np.random, np.random.mtrand._rand
        state = self._class(module.RandomState)
        generator = self._class(module.Generator)
        self._twins = {module.RandomState: state, module.Generator: generator}
        hidden = state(old._bit_generator)
        make = module.default_rng

        def default_rng(seed: Any = None) -> Any:
            return seed if type(seed) is generator else generator(make(seed).bit_generator)

        for name in dir(module.mtrand):
            function = getattr(module, name, None)
            if getattr(function, "__self__", None) is old and name not in _NO_DRAWS:
                self._put(module, name, getattr(hidden, name))
        self._put(module, "seed", hidden.seed)
        recorded = self.recorder.of_function(default_rng, "default_rng", "seed", "seed")
        self._put(module, "default_rng", recorded)
        for kind in (state, generator):
            self._put(module, kind.__name__, kind)
        module.mtrand._rand = hidden

    def _class(self, base: Any) -> Any:
        """Return a recorded subclass of a NumPy class, of which all objects count as instances."""
        recorder = self.recorder

        class Kind(type):
            def __instancecheck__(cls, value: Any) -> bool:
                return isinstance(value, base)

        members: dict[str, Any] = {
            name: recorder.wrapped(method, name, _parameters(method))
            for name in dir(base)
            if name[0] != "_"
            and name not in (*_NO_DRAWS, "bit_generator")
            and callable(method := getattr(base, name))
        }
        if hasattr(base, "seed"):
            members["seed"] = recorder.wrapped(base.seed, "seed", "seed", "seed")
        begin = recorder.wrapped(base.__init__, base.__name__, "seed", "seed")

        def reduced(source: Any) -> Any:
            return (type(source), (source._bit_generator,), *base.__reduce__(source)[2:])

        members.update(__init__=begin, __reduce__=reduced, __module__="numpy.random")
        return Kind(base.__name__, (base,), members)


def _of_stats(law: Any) -> str:
    """Return the parameters of draws from a law of ``scipy.stats``."""
    scale = "scale=1.0, " if hasattr(law, "pdf") else ""
    return f"{law.shapes or ''}, loc=0.0, {scale}size, random_state"


def _parameters(method: Any) -> str:
    """Return the parameters of a method of NumPy, with which its docstring begins."""
    match = re.match(r"\w+\(([^)\n]*)", (method.__doc__ or "").strip())
    return match[1] if match and "..." not in match[1] else "size"
