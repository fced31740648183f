"""The digest of a callable names its code, its arguments and its library."""

import functools

import numpy as np

from epsilometer_audit.outputs.callables import callable_source, digests, load


def scaled(x, scale=3.0):
    return scale * x


def test_the_digest_of_a_function_has_its_file_and_its_arguments():
    assert len(callable_source(scaled).digest()[f"{__name__.replace('.', '/')}.py"]) == 64
    assert "arguments" in callable_source(functools.partial(scaled, scale=1)).digest()


def test_the_digest_of_a_function_without_a_file_has_its_code():
    typed = {}
    exec("f = lambda x: x\ng = lambda x: x + 1", typed)  # noqa: S102
    digest_f, digest_g = (callable_source(typed[name]).digest() for name in "fg")
    assert digest_f["<lambda>"] != digest_g["<lambda>"]


def test_the_digest_of_a_library_is_its_version():
    assert callable_source(np.linalg.norm).digest()["numpy"] == np.__version__
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
