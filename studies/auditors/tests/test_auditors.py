"""An auditor from outside, by one file: what it says of itself, and where it enters."""

import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import auditors
from auditors import recorded
from auditors.recorded import _Recorded
from benchmark.child import outside
from benchmark.measure import called
from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.estimators.base import Claims
from limit.methods import Claimed, Run, methods
from matrix.methods import Method, Pair, with_auditors

FILE = Path(__file__).parent / "halves.py"
BOUND = "def lower_bound(x, y, claim, alpha, rng):\n    {}\n"
LAPLACE = np.random.default_rng(0).laplace([[0.0], [1.0]], 1, (2, 4000))


def pair(outputs="scalar", n=4000):
    return Pair(*LAPLACE[:, :n], outputs, Claims(), 0.5)


def written(folder, text):
    file = folder / "auditor.py"
    file.write_text(text)
    return file


def test_what_a_file_says_of_itself_is_read_without_running_it(tmp_path):
    text = 'name = "mine"\nraise SystemExit\n' + BOUND.format("return 0")
    auditor = auditors.read(written(tmp_path, text))
    assert (auditor.name, auditor.needs.claims, auditor.needs.draws) == ("mine", ("pure",), 1)
    assert auditors.read(FILE).needs.outputs == ("scalar", "index")
    assert auditors.read(FILE).versions().keys() == {"scipy"}


def test_a_file_may_have_types(tmp_path):
    text = 'name: str = "typed"\nneeds: dict = {"draws": 7}\n'
    text += "def lower_bound(x, y, claim, alpha: float, rng) -> float: ...\n"
    auditor = auditors.read(written(tmp_path, text))
    assert (auditor.name, auditor.needs.draws) == ("typed", 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: str\ndef lower_bound(): ...", "name: must be written out"),
        ("def lower_bound(", "auditor.py: cannot be read: "),
        (BOUND.format("return 0"), "auditor.py: name: is missing"),
        (
            'name = "a"\ndef lower_bond(): ...',
            "lower_bound: must be a function .*did you mean 'lower_bond'",
        ),
        (
            'name = "a"\ndef lower_bound(x, y): ...',
            r"must be a function of \(x, y, claim, alpha, rng\)$",
        ),
        ("name = str(1)\n" + BOUND.format("return 0"), "name: must be written out"),
        ('name = "a"\nneeds = {"claim": []}\n' + BOUND.format("return 0"), "unknown key; did you"),
        ('name = "a"\nneeds = {"claims": ["pur"]}\n' + BOUND.format("return 0"), "needs.claims"),
    ],
)
def test_mistakes_are_one_line(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        auditors.read(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_it_is_refused_what_it_does_not_need(tmp_path):
    auditor = auditors.read(FILE)
    assert auditor.refusal("pure", "scalar") == ""
    assert auditor.refusal("gdp", "scalar") == "it does not bound a claim that is gdp"
    assert "it takes outputs that are scalar or index" in auditor.refusal("pure", "vector")
    needs = 'name = "a"\nneeds = {"packages": ["not-there"]}\n' + BOUND.format("return 0")
    missing = auditors.read(written(tmp_path, needs))
    assert missing.refusal("pure", "scalar") == "it needs not-there, which is not installed"


@pytest.mark.parametrize(
    ("body", "message"),
    [("1 / 0", "raised ZeroDivisionError: "), ("return float('nan')", "returned nan")],
)
def test_a_broken_auditor_fails_alone(tmp_path, body, message):
    text = 'name = "broken"\nneeds = {"draws": 10}\n' + BOUND.format(body)
    auditor = auditors.read(written(tmp_path, text))
    rng = np.random.default_rng(0)
    with pytest.raises(ArgumentError, match=message):
        auditor.bound(*LAPLACE, 0.05, rng, notion="pure", level=0.5)
    with pytest.raises(ArgumentError, match="fewer than 10 a side"):
        auditor.bound(*LAPLACE[:, :9], 0.05, rng, notion="pure", level=0.5)
    claim = Claimed(notion="pure")
    *_, (name, answer) = methods(pair(), claim, {}, [auditor])
    result = answer(Run(pair(), claim.at(0.5), 0))
    assert (name, result.refuted, result.bound) == ("broken", False, 0.0)
    assert message in result.reason


def test_it_is_a_method_of_the_matrix():
    own = {"audit": Method(estimator="audit"), "audit-delta": Method(estimator="audit", delta=0.02)}
    every = with_auditors(own, [auditors.read(FILE)])
    assert list(every) == ["audit", "audit-delta", "halves", "halves, delta 0.02"]
    pure, delta = every["halves"], every["halves, delta 0.02"]
    assert pure.promise("scalar") == "a bound at every n"
    assert pure.refusal("scalar", Claims(), math.inf) == ""
    assert "renyi" in pure.refusal("scalar", Claims(), 2.0)
    assert 0.4 < delta.answer(pair(), math.inf) < pure.answer(pair(), math.inf) < 1
    with pytest.raises(ArgumentError, match="'halves', as a method is called"):
        with_auditors({"halves": own["audit"]}, [auditors.read(FILE)])


def test_it_is_a_method_of_the_limit():
    claim = Claimed(notion="pure")
    run = Run(pair(), claim.at(0.25), seed=0)
    *_, (name, answer) = methods(pair(), claim, {}, [auditors.read(FILE)])
    result = answer(run)
    assert (name, result.refuted, result.reason) == ("halves", True, "")
    assert 0.4 < result.bound < 1
    assert 64 <= result.draws < 4000
    *_, (_, reason) = methods(pair("bits"), claim, {}, [auditors.read(FILE)])
    assert "not bits" in reason


@pytest.mark.slow(seconds=1)
def test_it_is_an_implementation_of_the_benchmark(tmp_path):
    data = {"x": LAPLACE[0], "y": LAPLACE[1], "seed": 0, "claim": 0.5, "alpha": 0.05}
    np.savez(tmp_path / "data.npz", **data)
    np.savez(tmp_path / "bits.npz", **data | {"x": np.zeros(9, np.int64), "bits": 10})
    common = {"function": f"{FILE}:lower_bound", "repeats": 1, "enough": 9.0, "limit": 60}
    common |= {"package": None, "answers": str(tmp_path / "answers.npz")}
    files = (str(tmp_path / name) for name in ("data.npz", "bits.npz"))
    measured, refused = called(
        sys.executable, [common | {"warm": file, "data": [file]} for file in files]
    )
    assert len(measured["seconds"]) == 1
    assert refused["missing"] == "does not apply: it does not take outputs that are bits"
    with np.load(tmp_path / "answers.npz") as answers:
        assert 0.4 < float(answers["arr_0"]) < 1


@pytest.mark.parametrize(
    ("needs", "body", "reason"),
    [
        ({"draws": 4001}, "return 0", "does not apply: it needs 4001 draws a side"),
        ({"draws": 4000}, "return float('nan')", "failed: ValueError: lower_bound returned nan"),
        ({"draws": 4000}, "return 0", None),
    ],
)
def test_the_benchmark_heeds_its_draws_and_refuses_nan(tmp_path, needs, body, reason):
    file = written(tmp_path, f'name = "a"\nneeds = {needs}\n' + BOUND.format(body))
    data = {"seed": 0, "claim": 0.5, "alpha": 0.05}
    np.savez(tmp_path / "warm.npz", **data, x=LAPLACE[0][:9], y=LAPLACE[1][:9])
    np.savez(tmp_path / "data.npz", **data, x=LAPLACE[0], y=LAPLACE[1])
    call = {"function": f"{file}:lower_bound", "repeats": 1, "enough": 9.0, "limit": 60}
    call |= {"package": None, "answers": str(tmp_path / "answers.npz")}
    call |= {"warm": str(tmp_path / "warm.npz"), "data": [str(tmp_path / "data.npz")]}
    (result,) = called(sys.executable, [call])
    assert result.get("missing") == reason


@pytest.mark.parametrize(("outputs", "dimensions"), [([1, 2, 0], 1), ([1, 3, 0], 2)])
def test_ours_get_several_bits_as_a_vector(tmp_path, outputs, dimensions):
    text = 'name = "ours"\nneeds = {"outputs": ["bits"]}\n' + BOUND.format("return x.ndim")
    sides = dict.fromkeys("xy", np.array(outputs))
    data = {**sides, "bits": 2, "seed": 0, "claim": 0.5, "alpha": 0.05}
    assert outside(written(tmp_path, text))(data) == dimensions


def test_one_file_enters_all_three(tmp_path, monkeypatch):
    for file in auditors.METHODS.glob("*.py"):
        shutil.copy(file, tmp_path)
    before = [auditor.name for auditor in auditors.listed(folder=tmp_path)]
    shutil.copy(FILE, tmp_path)
    assert {a.name for a in auditors.listed(folder=tmp_path)} == {*before, "halves"}
    assert [a.name for a in auditors.listed(before, tmp_path)] == ["halves"]
    with pytest.raises(ArgumentError, match="leave_out has an unknown 'halvs'; did you"):
        auditors.listed(["halvs"], tmp_path)
    shutil.copy(FILE, tmp_path / "two.py")
    with pytest.raises(ConfigError, match=r"two.py: name: 'halves': is also in .*halves.py"):
        auditors.listed(folder=tmp_path)


def test_recorded_draws_are_used_once_and_in_order():
    source = _Recorded(np.arange(9), -np.arange(9))
    assert source.draw(0, 2, 7).tolist() == [0, 1]
    assert source.draw(1, 3, 7).tolist() == [0, -1, -2]
    assert source.draw(0, 2, 7).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("name", "door", "method"),
    [("ours, anytime", "audit", "anytime"), ("ours, fixed n", "audit_outputs", "exact")],
)
def test_our_auditors_are_the_methods_of_their_names(monkeypatch, name, door, method):
    verdicts, audit = [], getattr(recorded, door)
    monkeypatch.setattr(
        recorded,
        door,
        lambda *args, **options: verdicts.append(audit(*args, **options)) or verdicts[0],
    )
    auditor = next(each for each in auditors.listed() if each.name == name)
    bound = auditor.bound(*LAPLACE, 0.05, np.random.default_rng(0), notion="pure", level=0.5)
    (verdict,) = verdicts
    assert (verdict.method, verdict.bound) == (method, bound)


def test_the_page_has_the_example_word_for_word():
    assert FILE.read_text() in (auditors.METHODS.parent / "README.md").read_text()
