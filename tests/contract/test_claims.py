"""Rules that every registered claim keeps: each door knows it, and audits judge it rightly.

The laws are noise at two distances, from the claim's own `noise`.
"""

import json
import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.stats import laplace, norm

import epsilometer_audit as ea
from epsilometer_audit.answer import conclusion
from epsilometer_audit.cli import parser
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.main import main
from epsilometer_audit.outputs.callables import load
from epsilometer_audit.question.claims import kinds
from epsilometer_audit.question.request import claim_of
from tests.contract.level_cases import discrete, laplace_pair, normal_pair
from tests.unit.processes import ran

ROOT = Path(__file__).parents[2]
KINDS = kinds()
every_claim = pytest.mark.parametrize("name", KINDS)
DRAWS = 4000
Q = np.array([0.01, 0.2, 0.5, 0.7])


def stated(name):
    """Return values of the claim's options."""
    return {option.name: option.example for option in KINDS[name].options}


def claim(name):
    return claim_of(stated(name))


@every_claim
def test_what_a_level_allows_is_just_what_its_noise_does(name):
    """Of the best functions of an output: of events by half-lines, of divergences by densities."""
    for part in claim(name).levels:
        level = np.array([part.level])
        noise = part.noise(level)
        distance = float(noise.distances[0])
        beyond = []
        for order in part.orders:
            pair = (normal_pair if noise.gaussian else laplace_pair)(distance)
            mean = math.exp((order - 1) * pair.renyi(order))  # of (p/q)^(a-1) under P, and so on
            kappa, b = part.null(level, mean, order)
            beyond.append(math.log(mean / float(kappa[0] * mean + b[0])))
        cdf = norm.cdf if noise.gaussian else laplace.cdf
        for end in np.linspace(-5, 5, 2001) if part.events else ():
            p, q = cdf(end), cdf(end - distance)
            kappa, b = part.null(level, q, math.nan)
            beyond.append(float(p - kappa[0] * q - b[0]))
        assert max(beyond) == pytest.approx(0, abs=1e-4)


@every_claim
def test_the_level_of_an_event_and_the_largest_probability_belong_together(name):
    for part in claim(name).levels:
        allowed = part.likelier(Q, part.level)
        below = allowed < 1 - 1e-9
        assert below.any()
        assert (allowed >= Q).all()
        assert part.likelier(Q, part.grid[-1]) == pytest.approx(np.ones(4))
        assert part.of(allowed, Q)[below] == pytest.approx(part.level, rel=1e-6, abs=1e-9)
        for p, q in zip(allowed[below], Q[below], strict=True):
            pair = discrete(np.array([p, 1 - p]), np.array([q, 1 - q]))
            shown = [pair.renyi(a) / part.divergence(1.0, a) for a in part.orders]
            assert max(shown, default=part.level) == pytest.approx(part.level)


# --- the doors ------------------------------------------------------------------------------------


def in_python(name):
    options = {"samples": DRAWS, "as_reals": True, "check_sampler": False}
    verdict = ea.audit("laws.py:law", [(0, 1)], **options, **stated(name))
    quantities = [part.quantity for part in claim(name).levels]
    assert [bound.quantity for bound in verdict.bounds] == quantities
    return verdict.verdict


def from_recorded_outputs(name):
    law = load("laws.py:law", folder=".")
    outputs = law.draw(0, DRAWS, 1), law.draw(1, DRAWS, 2)
    verdict = ea.audit_outputs(outputs, claim(name), as_reals=True)
    assert (verdict.method == "exact") == bool(claim(name).events)
    return verdict.verdict


@pytest.mark.parametrize("audited", [in_python, from_recorded_outputs], ids=lambda f: f.__name__)
@pytest.mark.parametrize("violates", [False, True], ids=["honest", "violating"])
@every_claim
def test_a_claim_is_refuted_where_it_does_not_hold(name, violates, audited, tmp_path, monkeypatch):
    """Nearer than the noise of every part, and at three times the distance of the farthest."""
    monkeypatch.chdir(tmp_path)
    noises = [part.noise(np.array([part.level])) for part in claim(name).parts]
    attained = [float(noise.distances[0]) for noise in noises]
    kind = "normal" if noises[0].gaussian else "laplace"
    distance = 3 * max(attained) + 1 if violates else 0.85 * min(attained)
    Path("laws.py").write_text(
        f"def law(x, size, rng):\n    return rng.{kind}({distance!r} * x, 1, size)\n"
    )
    assert audited(name) == ("violated" if violates else "not refuted")


def words_of(name):
    """Return the words of a command that state the claim; a curve is in a file of this folder."""
    words = []
    for option in KINDS[name].options:
        if option.columns:
            rows = [option.columns, *option.example.items()]
            Path("curve.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
            words += ["--profile", "curve.csv"]
        elif option.takes_points:
            for at, level in option.example.items():
                words += [f"--{option.name}", f"{at}={level}"]
        else:
            words += [f"--{option.name}", str(option.example)]
    return words


@every_claim
def test_a_command_and_a_file_state_the_same_claim(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["laws.py:law", "--pair", "0", "1", *words_of(name)]
    assert parser.request_of(parser.parsed("audit", words)).claim == claim(name)
    entry = {"mechanism": "laws.py:law", "pairs": [[0, 1]], "claim": stated(name)}
    Path("mine.yaml").write_text(yaml.safe_dump({"audits": {"own": entry}}))
    (case,) = AuditsFile(Path("mine.yaml")).cases.values()
    assert case.request().claim == claim(name)


def test_a_verdict_holds_the_digest_of_the_file_of_a_curve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("laws.py").write_text("def law(x, size, rng):\n    return rng.laplace(x, 1, size)\n")
    words = ["--pair", "0", "1", "--samples", "10", "--no-checks", *words_of("profile")]
    main(["audit", "laws.py:law", "--quiet", "--json", "v.json", *words])
    assert "curve.csv" in json.loads(Path("v.json").read_text())["provenance"]["made of"]


@every_claim
def test_a_claim_is_in_the_help_and_says_what_it_is(name, capsys):
    assert main(["audit", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for option in KINDS[name].options:
        assert option.about in shown
    whole, names = claim(name), set()
    assert whole.text()
    assert json.loads(json.dumps(whole.to_plain()))["notion"]
    for part in whole.levels:
        assert part.at(part.level) == part
        assert bool(part.events) != bool(part.orders)
        assert sum(part.bet_shares) == pytest.approx(1)
        named = conclusion.bound_of(part, 0.0, whole).name
        assert part.quantity in named
        names.add(named)
    assert len(names) == len(whole.levels)


# --- a claim of an installed package: one class, and a line that names it -------------------------

TOY = """
import numpy as np
from epsilometer.claims import ClaimOption, Delta, EventClaim, Noise
from dataclasses import dataclass

@dataclass(frozen=True)
class Variation(EventClaim):
    options = (ClaimOption("variation", "TV", 0.2, "total variation of at most so much"),)
    quantity = "tv"
    grid = Delta.grid
    tv: float

    def null(self, levels, mean, order):
        return np.ones(np.shape(levels)), np.asarray(levels, float)

    def of(self, p, q):
        return np.subtract(p, q)

    def implied(self, levels):
        return np.zeros((levels.size, 1)), levels[:, None]

    def noise(self, levels):
        return Noise(gaussian=False, distances=-2 * np.log1p(-levels))

    def text(self):
        return f"a total variation of {self.tv:g}"
"""


def with_toy(folder, code, *command):
    """Run a command where a package with this code is installed."""
    (folder / "toy.py").write_text(code)
    metadata = folder / "toy-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[epsilometer.claims]\nvariation = toy:Variation\n")
    path = os.pathsep.join([str(folder), str(ROOT)])
    return ran(sys.executable, "-m", *command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path})


@pytest.mark.slow(seconds=5)
def test_a_class_and_a_line_are_a_claim_for_every_door_and_for_these_tests(tmp_path):
    command = ["pytest", "-q", "-n", "0", "-p", "no:cacheprovider", __file__, "-k", "variation"]
    done = with_toy(tmp_path, TOY, *command)
    assert "8 passed" in done.stdout, done.stdout


def test_what_a_class_lacks_is_said_before_any_draw(tmp_path):
    code = TOY.replace("def implied", "def implies").replace("def text", "def texts")
    done = with_toy(tmp_path, code, "epsilometer_audit", "audit", "--help")
    assert done.returncode == 2
    assert done.stderr == (
        "epsilometer: claim variation: toy:Variation [toy 1.0]: does not have implied and text\n"
    )
