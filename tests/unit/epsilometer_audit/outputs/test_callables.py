"""The digest of a callable names its code, its arguments and its library."""

import functools
import hashlib
import platform
import time

import numpy as np
import pytest

from epsilometer.errors import MechanismError
from epsilometer_audit.outputs.callables import callable_source, digests, load
from epsilometer_audit.outputs.child_process import OverdueError, ends_after


def scaled(x, scale=3.0):
    return scale * x


def test_the_digest_of_a_function_has_its_file_and_its_arguments():
    assert len(callable_source(scaled).digest()[f"{__name__.replace('.', '/')}.py"]) == 64
    assert "arguments" in callable_source(functools.partial(scaled, scale=1)).digest()


def test_files_of_a_digest_are_named_from_the_folder_of_their_package(tmp_path):
    """Also where no import finds them."""
    (tmp_path / "outer/inner").mkdir(parents=True)
    for folder in ("outer", "outer/inner"):
        (tmp_path / folder / "__init__.py").touch()
    for folder in (".", "outer/inner"):
        (tmp_path / folder / "own.py").write_text("def noisy(x): return x")
    for name in ("own.py", "outer/inner/own.py"):
        file = tmp_path / name
        found = {}
        exec(compile(file.read_text(), file, "exec"), found)  # noqa: S102
        digest = callable_source(found["noisy"]).digest()
        assert digest == {
            name: hashlib.sha256(file.read_bytes()).hexdigest(),
            "python": platform.python_version(),
        }


def test_a_limit_of_draws_is_told_and_that_of_another_passes():
    with pytest.raises(MechanismError, match=r"does not return within 0\.02 s a batch"):
        callable_source(lambda x: time.sleep(5), timeout=0.02).draw(0, 1, 1)
    source = callable_source(lambda x: time.sleep(5), timeout=9.0)
    with pytest.raises(OverdueError), ends_after(0.02):
        source.draw(0, 1, 1)


CODES = [
    "x",
    "x + 1",
    "x + 2",
    "x - 1",
    "abs(x)",
    "int(x)",
    "(lambda y: y + 1)(x)",
    "(lambda y: y + 2)(x)",
    "x in {0, 8}",
    "x in {0, 9}",
    "x in (0, 8)",
]


def digests_of_codes(codes):
    """Return the digests of functions without a file, which all exist at the same time."""
    functions = [eval(f"lambda x: {code}") for code in codes]  # noqa: S307
    return [callable_source(function).digest()["<lambda>"] for function in functions]


def test_the_digest_of_a_function_without_a_file_is_that_of_what_it_does():
    first, again = np.reshape(digests_of_codes(CODES * 2), (2, -1)).tolist()
    assert first == again
    assert len(set(first)) == len(CODES)
    assert len(set(digests_of_codes(["x in {0, 8}", "x in {8, 0}"]))) == 1


def test_the_digest_of_a_library_is_its_version():
    assert callable_source(np.linalg.norm).digest()["numpy"] == np.__version__
    ordered = callable_source(functools.partial(np.linalg.norm, ord=1)).digest()
    assert (ordered["numpy"], ordered["arguments"]) == (np.__version__, "((), {'ord': 1})")
    assert digests("numpy.linalg:norm")["numpy"] == np.__version__
    assert set(digests("math:sqrt")) == {"python"}


def test_parameters_are_part_of_the_digest(tmp_path):
    (tmp_path / "survey.py").write_text("def noisy(x, epsilon=1): return x\n")
    one, two = (
        load("survey.py:noisy", folder=tmp_path, parameters={"epsilon": epsilon}).digest()
        for epsilon in (1, 2)
    )
    assert one["survey.py"] == two["survey.py"]
    assert one != two
    assert one["parameters"] == '{"epsilon": 1}'
