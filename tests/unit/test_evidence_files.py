"""Evidence that is kept in a file between audits."""

import json
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.cli.main import main
from epsilometer_audit.evidence_files import numbered, opened, part_of
from epsilometer_audit.question import source_of
from epsilometer_audit.statistics.claims import Pure, parts
from epsilometer_audit.statistics.rounds import Evidence, gather, successive
from epsilometer_audit.statistics.schedule import schedule
from epsilometer_audit.statistics.wealth import Earlier

PAIRS = [(0, 1)]
CODE = "def count(x, size, rng, scale={scale}):\n    return rng.laplace(x, scale, size)\n"


@pytest.fixture
def audited(tmp_path, monkeypatch):
    """Audit the Laplace mechanism of a file, whose evidence is kept."""
    monkeypatch.chdir(tmp_path)

    def run(scale=1.0, claim=None, name="count.py:count", file="evidence.json", **options):
        code = tmp_path / "count.py"
        if not code.exists() or code.read_text() != CODE.format(scale=scale):
            code.write_text(CODE.format(scale=scale))
        options = {"pairs": PAIRS, "samples": 2000, "as_reals": True, "details": False} | options
        return ea.audit(name, claim=claim or ea.pure(1.0), evidence=file, **options)

    return run


def contents(file="evidence.json"):
    return json.loads(Path(file).read_text())


def note(verdict):
    return next(check["words"] for check in verdict.checks if check["name"] == "evidence")


def test_parts_are_one_together():
    assert sum(map(part_of, range(1, 10**5))) == pytest.approx(1, abs=2e-5)


def test_an_audit_goes_on_from_the_evidence_of_those_before(audited):
    first, second = audited(), audited()
    assert first.seed != second.seed
    assert (contents()["audits"], contents()["draws"], contents()["version"]) == (2, 4000, 1)
    assert "audit 2 of version 1, after 2000 draws a side" in note(second)
    assert second.alpha == 0.05
    assert any(check["name"] == "same seed" for check in first.checks)
    assert not any(check["name"] == "same seed" for check in second.checks)


@pytest.mark.parametrize(
    "claim",
    [ea.approximate(1.0, 1e-3), ea.gdp(1.0), ea.zcdp(0.5), ea.renyi({2: 0.5, 4: 0.6})],
    ids=str,
)
def test_every_kind_of_claim_is_kept(audited, claim):
    audited(claim=claim)
    audited(claim=claim)
    assert contents()["audits"] == 2
    assert len(contents()["wealth"]) == len(parts(claim))


def test_many_audits_of_few_draws_find_what_one_cannot(audited):
    verdicts = [audited(0.9, samples=400).verdict for _ in range(20)]
    assert verdicts[0] == "not refuted"
    assert verdicts[-1] == "violated"
    assert sorted(verdicts) == verdicts  # a violation stays


@pytest.mark.parametrize(
    "change",
    [
        {"scale": 1.5},
        {"claim": ea.pure(1.2)},
        {"pairs": [(0, 2)], "claim": ea.pure(2.5)},
        {"as_reals": False, "pairs": [(0.5, 1.5)]},
    ],
    ids=["code", "claim", "inputs", "options"],
)
def test_a_change_begins_a_new_version(audited, change):
    audited()
    verdict = audited(**change)
    assert (contents()["version"], contents()["audits"], contents()["draws"]) == (2, 1, 2000)
    assert "version 2, after 0 draws a side; this version has 0.167 of alpha" in note(verdict)


def test_other_versions_of_libraries_begin_a_new_version(audited, monkeypatch):
    audited()
    monkeypatch.setattr("scipy.__version__", "0.1")
    audited()
    assert contents()["version"] == 2


def test_a_violation_of_an_older_version_does_not_count(audited):
    assert audited(0.3).verdict == "violated"
    assert audited().verdict == "not refuted"


def test_a_violation_stays_and_a_later_audit_stops_at_once(audited):
    assert audited(0.3).verdict == "violated"
    later = audited(0.3, stop=True)
    assert (later.verdict, later.draws) == ("violated", 1)
    assert note(later).endswith("; those draws refuted the claim")


def test_a_new_version_has_its_part_of_alpha(audited):
    audited(0.9)
    verdict = audited(0.3, alpha=0.05)
    with opened("evidence.json") as file:
        largest = file.before["wealth"][0]["largest"]
    p_value = np.exp(-largest) / part_of(2)
    assert verdict.p_value == pytest.approx(p_value, rel=1e-3)


def test_pairs_that_are_gone_are_no_error(audited):
    pairs = {"far": (0, 1), "near": (0, 0.5)}
    audited(0.9, pairs=pairs, samples=5000)
    audited(0.9, pairs=pairs, samples=5000)
    assert contents()["pair"] == "far"
    assert contents()["audits"] == 2


def test_text_and_failures_are_learned_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(
        "def answer(x, rng):\n"
        "    if rng.random() < 0.1:\n        raise KeyError('absent')\n"
        "    return {'kind': ('yes', 'no')[int(rng.random() < 0.3 + x / 5)]}\n"
    )
    for _ in range(2):
        source = source_of("m.py:answer", failures=True)
        ea.audit(source, PAIRS, ea.pure(1.0), samples=500, evidence="e.json", details=False)
    outputs = [*contents("e.json")["outputs"][0]]
    failure = {"error": "KeyError", "message": "'absent'"}
    assert failure in outputs
    assert all(each in ({"kind": "yes"}, {"kind": "no"}, failure) for each in outputs)


# --- errors ---------------------------------------------------------------------------------------


def test_a_damaged_file_is_refused_and_stays(audited):
    audited()
    file = Path("evidence.json")
    text = file.read_text()
    for damaged in (text[:-20], text.replace('"audits": 1', '"audits": 7')):
        file.write_text(damaged)
        with pytest.raises(ArgumentError, match="is damaged; restore it, or delete it"):
            audited()
        assert file.read_text() == damaged


@pytest.mark.parametrize("text", ["{}", "[1]", "x,y\n1,2\n", '{"format": "another"}'])
def test_another_file_is_refused_and_stays(audited, tmp_path, text):
    (tmp_path / "evidence.json").write_text(text)
    with pytest.raises(ArgumentError, match="does not hold evidence of epsilometer"):
        audited()
    assert (tmp_path / "evidence.json").read_text() == text


def test_the_evidence_of_another_mechanism_or_alpha_is_refused(audited, tmp_path):
    audited()
    (tmp_path / "other.py").write_text(CODE.format(scale=1))
    with pytest.raises(ArgumentError, match=r"of mechanism count\.py:count, not other"):
        audited(name="other.py:count")
    with pytest.raises(ArgumentError, match=r"of alpha 0\.05, not 0\.01"):
        audited(alpha=0.01)


def test_a_numbered_file_may_be_of_another_mechanism_later(audited, tmp_path):
    file, _ = numbered(tmp_path / "kept", "test_it.py::test_count")
    audited(file=file)
    (tmp_path / "other.py").write_text(CODE.format(scale=1))
    audited(name="other.py:count", file=file)
    assert (contents(file)["version"], contents(file)["audits"]) == (2, 1)
    with pytest.raises(ArgumentError, match="keep that, name another file, or delete it"):
        audited(file=file, alpha=0.01)


def test_an_error_leaves_nothing_behind(audited, tmp_path):
    with pytest.raises(ArgumentError, match="samples"):
        audited(samples=2)
    (tmp_path / "count.py").write_text("def fails(x, size, rng):\n    raise ValueError\n")
    with pytest.raises(MechanismError):
        ea.audit("count.py:fails", PAIRS, ea.pure(1.0), evidence="evidence.json")
    assert not (tmp_path / "evidence.json").exists()


def test_invalid_draws_are_no_evidence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.py").write_text(
        "import numpy as np\ndef stuck(x, size):\n"
        "    return np.random.default_rng(1).laplace(x, 1, size)\n"
    )
    verdict = ea.audit("n.py:stuck", PAIRS, ea.pure(1.0), evidence="e.json", samples=2000)
    assert verdict.verdict == "invalid"
    assert "stays as it was" in note(verdict)
    assert not (tmp_path / "e.json").exists()


def test_code_that_is_unknown_is_refused(tmp_path):
    source = source_of(lambda x, size, rng: rng.laplace(x, 1, size))
    source.digest = lambda: {"python": "3.11"}
    with pytest.raises(ArgumentError, match="the code of the mechanism is unknown"):
        ea.audit(source, PAIRS, ea.pure(1.0), evidence=tmp_path / "e.json")


def test_options_without_an_e_process_are_refused(audited):
    with pytest.raises(ArgumentError, match="cannot be used with"):
        audited(method="exact")
    with pytest.raises(ArgumentError, match="cannot be used with"):
        audited(outcomes=3)


def test_on_the_command_line(audited, tmp_path, capsys):
    audited()
    words = ["audit", "count.py:count", "--pair", "0", "1", "--epsilon", "1", "--as-reals"]
    words += ["--samples", "2000", "--quiet", "--evidence", "evidence.json", "--seed", "9"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "evidence.json: audit 2 of version 1, after 2000 draws a side" in text
    replay = text.rpartition("replay")[2]
    assert "--evidence" not in replay
    assert f"--seed {text.partition('seed ')[2].split()[0]}" in replay


# --- several processes ----------------------------------------------------------------------------


def _one(folder, seed):
    os.chdir(folder)
    ea.audit(
        "count.py:count", PAIRS, ea.pure(1.0), samples=300, evidence="evidence.json", seed=seed
    )


def test_processes_at_once_lose_nothing(audited, tmp_path):
    audited(samples=300, details=True, as_reals=False)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_one, args=(tmp_path, seed)) for seed in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert (contents()["audits"], contents()["draws"]) == (5, 1500)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "count.py",
        "evidence.json",
    ]


def test_numbers_of_files_stay(tmp_path):
    folder = tmp_path / "kept"
    names = [numbered(folder, name) for name in ("a.py::one", "b.py::two", "a.py::one")]
    assert [number for _, number in names] == [1, 2, 1]
    names[0][0].unlink()
    assert numbered(folder, "c")[1] == 3


# --- the statistics -------------------------------------------------------------------------------


def histories(scale, nights, draws, runs, claim, alpha=0.05, pairs=1):
    """Return the shares of histories that are refuted, without files, by the same steps."""
    refuted = 0
    for run in range(runs):
        rng = np.random.default_rng([run, nights])
        earlier, past, before = None, {}, 0
        for night in range(1, nights + 1):
            anew = np.log(part_of(night))
            earlier = (
                Earlier(anew=anew)
                if earlier is None
                else Earlier(earlier.logs, earlier.bounds, earlier.largest, anew, 0)
            )
            sides = [
                (rng.laplace(0, scale, draws), rng.laplace(1, scale, draws)) for _ in range(pairs)
            ]
            evidence = Evidence(
                claim, pairs, alpha, as_reals=True, earlier={claim: earlier}, past=past
            )
            gather(successive(sides), schedule(draws, pairs), evidence)
            earlier = evidence.wealths[claim].at_the_end()
            past, before = {0: tuple(side[-500:] for side in sides[0])}, before + draws
        refuted += evidence.refuted()
    return refuted / runs


def test_a_correct_mechanism_is_refuted_in_few_histories():
    """In .2, if every night had all of alpha: found with probability .88; `make audit-levels`."""
    assert histories(1.0, 5, 60, 30, Pure(1.0)) <= 0.1


def test_the_wealth_goes_on_where_it_ended(audited):
    audited(0.9)
    with opened("evidence.json") as file:
        kept = file.before["wealth"][0]
    levels, logs = kept["levels and log wealth"]["epsilon"]
    claim, shares = Pure(1.0), np.log(np.full((len(logs), 1), 1 / len(logs)))
    earlier = Earlier(
        {"epsilon": (np.array(levels), np.array(logs))}, kept["bounds"], kept["largest"], -1e3
    )
    (start,) = earlier.start(claim, np.array([claim.level]), 1, shares)
    index = levels.index(claim.level)
    assert start[:, 0] == pytest.approx(np.array(logs)[:, index], abs=1e-9)
    (lower,) = earlier.start(claim, np.array([levels[index] - 1e-6]), 1, shares)
    assert (lower <= start + 1e-9).all()  # never more than at the next higher level
