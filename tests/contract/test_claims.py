"""Rules that every registered claim keeps: each door knows it, and audits judge it rightly.

The laws are noise at two distances, from the claim's own `noise`; whether the claim holds of them
is computed in `HOLDS`, by quadrature.
"""

import json
import math
import os
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from scipy.special import logsumexp
from scipy.stats import laplace, norm

import epsilometer_audit as ea
from epsilometer.claims import RISING, Delta, Gaussian, Pure
from epsilometer.errors import ArgumentError, ConfigError
from epsilometer_audit.answer import conclusion
from epsilometer_audit.cli import parser
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.main import main
from epsilometer_audit.outputs.callables import load
from epsilometer_audit.question import claims as registry
from epsilometer_audit.question.claims import CLAIMS, checked_detect, kinds
from epsilometer_audit.question.request import claim_of
from tests.contract.level_cases import discrete, laplace_pair, normal_pair
from tests.unit.processes import ran

ROOT = Path(__file__).parents[2]
KINDS = kinds()
OURS = [name for name, target in CLAIMS.items() if "[" not in target]
every_claim = pytest.mark.parametrize("name", KINDS)
DRAWS = 4000
Q = np.array([0.01, 0.2, 0.5, 0.7])


def stated(name):
    """Return values of the claim's options."""
    return {option.name: option.example for option in KINDS[name].options}


def distances(name):
    """Return a distance at which all parts of the claim hold, and one at which none does."""
    attained = [part.noise(np.array([part.level])).distances[0] for part in claim(name).parts]
    return 0.85 * float(min(attained)), 3 * float(max(attained)) + 1


def claim(name):
    return claim_of(stated(name))


def is_gaussian(name):
    part = claim(name).parts[0]
    return part.noise(np.array([part.level])).gaussian


def pair_of(name, distance):
    return normal_pair(distance) if is_gaussian(name) else laplace_pair(distance)


# --- what is true of a law ------------------------------------------------------------------------


def no_easier_than_normals(pair, mu):
    """Tell whether delta is at most that of N(0, 1) and N(mu, 1) at every epsilon."""
    for epsilon in np.linspace(0, 4, 9):
        tail = math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        if pair.delta(epsilon) > norm.cdf(mu / 2 - epsilon / mu) - tail + 1e-9:
            return False
    return True


def as_hard_to_test(pair, betas):
    """Tell whether errors of type II are as large as claimed, by the lines that deltas are."""
    for alpha, beta in betas.items():
        lines = [1 - pair.delta(e) - math.exp(e) * alpha for e in np.linspace(-6, 6, 241)]
        if max(lines) < beta:
            return False
    return True


HOLDS = {
    "epsilon": lambda pair, epsilon, delta: pair.delta(epsilon) <= delta,
    "renyi": lambda pair, orders: all(pair.renyi(a) <= rho for a, rho in orders.items()),
    "gdp": no_easier_than_normals,
    "zcdp": lambda pair, rho: all(pair.renyi(a) <= rho * a for a in (1.1, 2.0, 5.0, 17.0)),
    "profile": lambda pair, deltas: all(pair.delta(e) <= d for e, d in deltas.items()),
    "tradeoff": as_hard_to_test,
}


@pytest.mark.parametrize("name", OURS)
def test_a_claim_holds_up_to_the_distance_of_its_noise(name):
    assert name in HOLDS, f"HOLDS does not say when {name} is true"
    honest, violating = distances(name)
    assert HOLDS[name](pair_of(name, honest), *stated(name).values())
    assert not HOLDS[name](pair_of(name, violating), *stated(name).values())


@pytest.mark.parametrize("name", ["renyi", "profile"])
def test_one_noise_attains_all_parts_of_an_example(name):
    """So the audits of examples below ask each of them."""
    attained = [part.noise(np.array([part.level])).distances[0] for part in claim(name).parts]
    assert len(attained) > 1
    assert max(attained) < 1.01 * min(attained)


@every_claim
def test_what_a_level_allows_is_just_what_its_noise_does(name):
    """Of the best functions of an output: of events by half-lines, of divergences by densities."""
    for part in claim(name).levels:
        level = np.array([part.level])
        noise = part.noise(level)
        pair = (normal_pair if noise.gaussian else laplace_pair)(float(noise.distances[0]))
        beyond = []
        for order in part.orders:
            mean = math.exp((order - 1) * pair.renyi(order))  # of (p/q)^(a-1) under P, and so on
            kappa, b = part.null(level, mean, order)
            beyond.append(math.log(mean / float(kappa[0] * mean + b[0])))
        for end in np.linspace(-5, 5, 2001) if part.events else ():
            cdf = norm.cdf if noise.gaussian else laplace.cdf
            p, q = cdf(end), cdf(end - noise.distances[0])
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


def test_an_event_that_only_one_side_has_shows_a_large_mu_and_a_finite_one():
    (part,) = claim_of({"gdp": 1.0}).parts
    for p, q in ((1.0, 0.5), (0.5, 0.0), (1.0, 0.0)):
        level = float(part.of(np.array(p), np.array(q)))
        assert 6 < level < 15
        assert float(part.of(np.array(q), np.array(p))) == pytest.approx(-level)


@pytest.mark.parametrize("level", [0.1, 1.5, 4.0])
def test_lines_of_mu_are_tangents_of_its_curve(level):
    """They lie above it and touch it where Q(S) is the mean; of what is implied, wherever."""
    q = norm.cdf(np.linspace(-9, 9, 7201))
    curve = norm.cdf(norm.ppf(q) + level)
    (part,), levels = claim_of({"gdp": 1.0}).parts, np.array([level])
    for mean in (1e-4, 0.3, 0.9):
        kappa, b = part.null(levels, mean, math.nan)
        assert (kappa * q + b >= curve - 1e-9).all()
        assert kappa * mean + b == pytest.approx(norm.cdf(norm.ppf(mean) + level))
    for epsilon, delta in zip(*np.stack(part.implied(levels))[:, 0], strict=True):
        assert delta == pytest.approx((curve - math.exp(epsilon) * q).max(), abs=1e-6)


def test_levels_that_are_tested_rise_in_small_steps_to_the_largest():
    for grid, first, step, last in ((RISING, 1 / 400, 0.0025, 300), (Delta.grid, 1e-9, 0.005, 1)):
        assert grid[0] == 0 < grid[1] <= first
        assert (np.diff(grid) > 0).all()
        assert (np.diff(grid)[1:] <= 1.0001 * np.maximum(step * grid[1:-1], first)).all()
        assert grid[-1] <= last < grid[-1] * (1 + 1.0001 * step)
    assert Gaussian.grid[-1] <= 30 < Gaussian.grid[-1] * 1.0026


@pytest.mark.parametrize(
    ("kind", "fits", "wrong"),
    [
        (Pure, [0.0, 300.0], [-1e-9, 300.1]),
        (partial(Pure, 1.0), [0.0, 0.999], [-1e-9, 1.0]),
        (Gaussian, [1e-9, 30.0], [0.0, 30.1]),
    ],
)
def test_a_level_lies_in_its_range(kind, fits, wrong):
    for level in fits:
        kind(level)
    for level in wrong:
        with pytest.raises(ArgumentError, match="must"):
            kind(level)


def test_a_claim_with_a_delta_has_bounds_of_both_numbers():
    assert [part.quantity for part in Pure(0.5, 0.1).levels] == ["epsilon", "delta"]
    assert [part.quantity for part in Pure(0.5).levels] == ["epsilon"]
    assert Pure(0.5, 0.1).of(np.array([0.1, 0.05]), np.array([0.0, 0.2])).tolist() == [-np.inf] * 2


# --- the doors ------------------------------------------------------------------------------------


def words_of(name, folder):
    """Return the words of a command that state the claim."""
    words = []
    for option in KINDS[name].options:
        if option.columns:
            rows = [option.columns, *option.example.items()]
            text = "\n".join(",".join(map(str, row)) for row in rows)
            (folder / "curve.csv").write_text(text)
            words += ["--profile", "curve.csv"]
        elif option.takes_points:
            for at, level in option.example.items():
                words += [f"--{option.name}", f"{at}={level}"]
        else:
            words += [f"--{option.name}", str(option.example)]
    return words


OPTIONS = {"samples": DRAWS, "as_reals": True, "check_sampler": False}


def in_python(name):
    verdict = ea.audit("laws.py:law", [(0, 1)], **OPTIONS, **stated(name))
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
    monkeypatch.chdir(tmp_path)
    noise = "normal" if is_gaussian(name) else "laplace"
    distance = distances(name)[violates]
    Path("laws.py").write_text(
        f"def law(x, size, rng):\n    return rng.{noise}({distance!r} * x, 1, size)\n"
    )
    assert audited(name) == ("violated" if violates else "not refuted")


@every_claim
def test_a_command_and_a_file_state_the_same_claim(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["laws.py:law", "--pair", "0", "1", *words_of(name, Path())]
    assert parser.request_of(parser.parsed("audit", words)).claim == claim(name)
    entry = {"mechanism": "laws.py:law", "pairs": [[0, 1]], "claim": stated(name)}
    Path("mine.yaml").write_text(yaml.safe_dump({"audits": {"own": entry}}))
    (case,) = AuditsFile(Path("mine.yaml")).cases.values()
    assert case.request().claim == claim(name)


def test_a_verdict_holds_the_digest_of_the_file_of_a_curve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("laws.py").write_text("def law(x, size, rng):\n    return rng.laplace(x, 1, size)\n")
    words = ["--pair", "0", "1", "--samples", "10", "--no-checks", *words_of("profile", Path())]
    main(["audit", "laws.py:law", "--quiet", "--json", "v.json", *words])
    assert "curve.csv" in json.loads(Path("v.json").read_text())["provenance"]["made of"]


@every_claim
def test_a_claim_is_in_the_help_and_says_what_it_is(name, capsys):
    assert main(["audit", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for option in KINDS[name].options:
        assert option.about in shown
    assert claim(name).text()
    assert json.loads(json.dumps(claim(name).to_plain()))["notion"]
    for part in claim(name).levels:
        assert part.at(part.level) == part
        assert bool(part.events) != bool(part.orders)
        assert sum(part.bet_shares) == pytest.approx(1)
        assert part.quantity in conclusion.bound_of(part, 0.0, claim(name)).name
    names = {conclusion.bound_of(part, 0.0, claim(name)).name for part in claim(name).levels}
    assert len(names) == len(claim(name).levels)


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


def test_a_class_is_registered_by_the_name_of_its_first_option():
    with pytest.raises(ConfigError, match="does not have options, the first of which is 'gdp'"):
        registry._checked("gdp", "epsilometer.claims:Pure")


@pytest.mark.parametrize("order", [1.5, 4.0])
def test_noise_is_gaussian_where_draws_reach_the_outputs_that_a_divergence_rests_on(order):
    """By its integrand, e^(-(z - order d)^2 / 2) but for a factor: at order d = 4.5 or nearer."""
    for place in (4.4, 4.6):
        distance = place / order
        rho = order * distance**2 / 2
        (part,) = ea.renyi({order: rho}).parts
        assert part.noise(np.array([rho])).gaussian == (place < 4.5)


@pytest.mark.parametrize(("order", "rho"), [(2.0, 0.5), (2.0, 30.0), (8.0, 0.2), (8.0, 5.0)])
def test_the_noise_of_a_renyi_claim_attains_its_level(order, rho):
    """By quadrature of the divergence of Gaussian or, at large levels, of Laplace noise."""
    (part,) = ea.renyi({order: rho}).parts
    noise = part.noise(np.array([rho]))
    distance = float(noise.distances[0])
    z, step = np.linspace(-60 - 10 * distance, 60 + 10 * distance, 2_000_001, retstep=True)

    def log_density(z):
        if noise.gaussian:
            return norm.logpdf(z)
        return -np.abs(z) - math.log(2)  # SciPy's is -inf far out

    terms = order * log_density(z - distance) + (1 - order) * log_density(z)
    divergence = (logsumexp(terms) + math.log(step)) / (order - 1)
    assert divergence == pytest.approx(rho, rel=1e-3)


# --- a trade-off curve and its lines --------------------------------------------------------------

Z = np.linspace(0, 1, 4001)


def least_errors(points):
    """Return the least error of type II at each of `Z` that follows from points by convexity."""
    least = np.zeros(Z.size)
    for a, b in points:
        before = b * (1 - Z) / (1 - a)
        after = 1 - Z * (1 - b) / a
        least = np.maximum(least, np.where(a > Z, before, after))
    return least


TABLES = [{0.1: 0.8}, {0.1: 0.8, 0.3: 0.5}, {0.02: 0.7, 0.2: 0.4, 0.6: 0.1}, {0.3: 0.7}, {0.8: 0.1}]


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_lines_of_a_table_are_the_tangents_of_what_follows_from_it(table):
    """In both directions: a tangent of slope s has the largest power - s alpha for its delta."""
    points = [*table.items(), *((b, a) for a, b in table.items())]
    power = 1 - least_errors(points)
    parts = claim_of({"tradeoff": table}).parts
    lines = [(math.exp(part.level), part.delta) for part in parts]
    for slope, delta in lines:
        assert delta == pytest.approx((power - slope * Z).max(), abs=2e-3)
    assert len({round(slope, 6) for slope, _ in lines}) == len(lines)
    mirrored = [(1 / slope, 1 - (1 - delta) / slope) for slope, delta in lines]
    least = np.min([np.ones(Z.size), *(s * Z + d for s, d in lines + mirrored)], axis=0)
    for slope in (1.0, 1.3, 2.0, 4.0, 9.0, 30.0):  # no tangent is left out
        assert (least - slope * Z).max() == pytest.approx((power - slope * Z).max(), abs=2e-3)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_the_alpha_of_a_line_is_that_of_the_nearest_point_below_it(table):
    """Of its mirrored point, only where that is nearer by .01."""
    whole = claim_of({"tradeoff": table})
    for part in whole.parts:
        distances = {}
        for alpha, beta in table.items():
            above = math.exp(part.level) * alpha + part.delta - (1 - beta)
            mirrored = math.exp(part.level) * beta + part.delta - (1 - alpha) + 0.01
            distances[alpha] = min(above, mirrored)
        assert min(distances.values()) > -1e-9
        assert whole.place_of(part)["alpha"] == min(distances, key=distances.__getitem__)


def test_a_function_is_read_up_to_rare_errors_and_kept_in_few_lines():
    def errors_of_pure(alpha):
        return max(1 - math.exp(8) * alpha, math.exp(-8) * (1 - alpha))

    parts = ea.tradeoff(errors_of_pure).parts
    assert parts[0].level == pytest.approx(8, abs=0.01)
    assert parts[0].delta < 1e-4
    asked = []

    def errors_of_gaussian(alpha):
        asked.append(alpha)
        return float(norm.cdf(norm.isf(alpha) - 1))

    smooth = ea.tradeoff(errors_of_gaussian)
    assert len(smooth.parts) == 10
    assert len(asked) == 300
    assert 1e-8 < min(asked) < 2e-7
    assert 1e-8 < 1 - max(asked) < 2e-7
    pair = normal_pair(1.0)
    for part in smooth.parts:
        assert pair.delta(part.level) - 1e-9 <= part.delta <= pair.delta(part.level) + 0.008
    deltas = [part.delta for part in smooth.parts]
    assert min(deltas) < 0.01
    assert max(deltas) > 0.35
    assert np.diff(np.sort(np.sqrt(deltas))).max() < 0.2
    assert len({point[0] for point in smooth.errors}) <= 10


def test_errors_at_the_ends_claim_nothing():
    assert ea.tradeoff({0.5: 0.5 + 9e-10}).parts[0].delta == 0  # as rounded
    assert ea.tradeoff({0.0: 1.0, 0.5: 0.5, 1.0: 0.0}).parts == ea.tradeoff({0.5: 0.5}).parts


NONE = [  # no curve or orders, and what is said
    *(
        (ea.tradeoff, table, r"errors of type I .* together at most 1")
        for table in [{0.5: 0.5 + 1.5e-9}, {-0.1: 0.5}, {0.1: -0.5}, {}]
    ),
    *(
        (ea.tradeoff, table, "must have a point with both errors above 0")
        for table in [{0: 1.0}, {1.0: 0}, {0.2: 0}]
    ),
    (ea.tradeoff, 0.5, "function of alpha, got float$"),
    (ea.profile, {}, "must have 1 to 20 points"),
    (ea.profile, {k / 10: 0.5 - k / 100 for k in range(21)}, "must have 1 to 20 points"),
    (ea.profile, {1: 1.0}, "delta must lie in"),
    (ea.profile, {-1: 0.1}, "epsilon must lie in"),
    (ea.profile, SimpleNamespace(delta=float), "mapping.*function.*its method delta"),
    (ea.renyi, {}, "at least one order"),
    (ea.renyi, [(2, 0.5), (2, 1)], "each order once"),
]


@pytest.mark.parametrize(("kind", "stated", "message"), NONE)
def test_what_is_no_claim_is_refused(kind, stated, message):
    with pytest.raises(ArgumentError, match=message):
        kind(stated)


# --- claims of several parts ----------------------------------------------------------------------


def test_each_order_that_is_stated_is_a_part():
    bounds = {1.5: 0.2, 2.0: 0.5, 8.0: 1.0}
    parts = ea.renyi(bounds).parts
    assert {part.orders: part.level for part in parts} == {(a,): bounds[a] for a in bounds}
    assert ea.renyi([(2.0, 0.5)]).parts == ea.renyi({2.0: 0.5}).parts
    assert len(ea.renyi({2.0: 0.5}).parts) == 1


def test_each_point_of_a_profile_with_a_delta_below_1_is_a_part():
    deltas = {k / 10: 0.5 - k / 100 for k in range(20)}
    assert {part.level: part.delta for part in ea.profile(deltas).parts} == deltas
    read = ea.profile(lambda epsilon: {0.0: 1.0, 700.0: 0.0}.get(epsilon, 0.05)).parts
    assert all(part.delta < 1 for part in read)


def test_a_function_of_epsilon_is_tested_where_delta_is_small_and_at_0():
    pair = normal_pair(1.0)
    parts = ea.profile(pair.delta).parts
    assert parts[0].level == 0
    assert [part.delta for part in parts] == pytest.approx([pair.delta(p.level) for p in parts])
    wanted = [0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-5]
    assert [part.delta for part in parts[1:]] == pytest.approx(wanted, rel=1e-4)
    assert all(part.delta <= delta for part, delta in zip(parts[1:], wanted, strict=True))
    never = ea.profile(lambda epsilon: 0.02).parts  # it is not below .02 anywhere
    assert [(part.level, part.delta) for part in never] == [(0.0, 0.02)]
    at_once = ea.profile(lambda epsilon: 0.1 if epsilon < 1 else 0.01).parts
    assert [(p.level, p.delta) for p in at_once] == [(0, 0.1), (pytest.approx(1), 0.01)]


@pytest.mark.parametrize("order", [1.25, 2.0, 17.0])
@pytest.mark.parametrize("mean", [0.5, 1.0, 4.0])
def test_what_a_divergence_allows_is_the_inequality_of_young(order, mean):
    """By minimising over m: kappa q + b with m = q is s q^(1 - 1/a), and more at any other m."""
    for part in (*ea.renyi({order: 0.7}).parts, *ea.zcdp(0.3).parts):
        rho = 0.7 if len(part.orders) == 1 else 0.3 * order
        s = math.exp(rho * (order - 1) / order)
        kappa, b = part.null(np.array([part.level]), mean, order)
        assert kappa[0] * mean + b[0] == pytest.approx(s * mean ** (1 - 1 / order))
        for other in (0.5 * mean, 2 * mean):
            assert kappa[0] * other + b[0] > s * other ** (1 - 1 / order)
        assert kappa[0] == pytest.approx(s * (1 - 1 / order) * mean ** (-1 / order))


def test_the_largest_rho_has_finite_exponentials_at_every_order():
    (part,) = ea.zcdp(18.0).parts
    for order in part.orders:
        assert (order - 1) * part.divergence(18.0, order) / order <= 300
    assert np.isfinite(part.null(part.grid, 1.0, max(part.orders))).all()
    assert max(part.grid) * (max(part.orders) - 1) <= 300
    assert part.grid[1] <= 1e-4
    assert (part.grid[2:] / part.grid[1:-1]).max() < 1.0025
    with pytest.raises(ArgumentError, match="rho"):
        ea.zcdp(18.1)


def test_the_orders_of_zcdp_lie_on_both_sides_of_2_and_none_between_is_far_from_them():
    orders = np.sort(ea.zcdp(0.5).parts[0].orders)
    assert 1 < orders[0] < 1.5
    assert orders[-1] > 10
    assert (np.diff(np.log2(orders - 1)) <= 1).all()


def test_a_level_to_be_detected_is_above_the_claim():
    claimed = ea.pure(0.5)
    assert checked_detect(0.6, claimed) == 0.6
    for wrong in (0.5, 0.4):
        with pytest.raises(ArgumentError, match=r"must be above the claim, 0\.5"):
            checked_detect(wrong, claimed)
    with pytest.raises(ArgumentError, match="needs a claim of one order or point"):
        checked_detect(0.6, ea.profile({0.0: 0.4, 1.0: 0.1}))


@pytest.mark.parametrize("number", [0.1, 1e-7, 0.1234567890123, 1 / 3, 2.0])
def test_numbers_as_keys_of_json_keep_all_digits(number):
    (key,) = ea.profile({number: 0.01}).to_plain()["deltas"]
    assert float(key) == number
    orders = ea.renyi({1 + number: 0.3, 1 + 2 * number: 0.4}).to_plain()["orders"]
    assert [float(order) for order in orders] == [1 + number, 1 + 2 * number]
