"""A job's code is all it runs: a changed statement changes it, a changed comment does not."""

import itertools
import shutil
from pathlib import Path

import pytest

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.products import code_digests
from tests.unit.loading import EVERY_STAGE, STAGES

LAPLACE = MECHANISMS.module("truncated_laplace")
HISTOGRAM = ESTIMATORS.module("histogram")


def names(*starts):
    return {path.stem for path in code_digests.closure(*starts)}


@pytest.mark.parametrize(
    ("stage", "module", "used", "unused"),
    [
        ("sample", LAPLACE, {"truncated", "seeds", "storage"}, {"real_line", "histogram", "study"}),
        ("estimate", HISTOGRAM, {"histogram", "planner"}, {"safety", "truncated", "render"}),
    ],
)
def test_a_job_uses_its_family_and_no_other(stage, module, used, unused):
    modules = names(STAGES / f"{stage}.py", module)
    assert {stage} | used <= modules
    assert not unused & modules


def of_no_job(file):
    return file.parent.name == "runtime" or file.name == "__init__.py"


@pytest.mark.parametrize("stage", EVERY_STAGE)
def test_nothing_that_is_imported_is_missed_but_what_runs_jobs(loaded, stage):
    """Import the same modules as the stage, in a fresh interpreter, and compare."""
    files = code_digests.closure(STAGES / f"{stage}.py")
    assert files == sorted(files)
    assert not list(filter(of_no_job, files))
    ours = [Path(file) for name, file in loaded(stage).items() if name.startswith("epsilometer")]
    assert {*itertools.filterfalse(of_no_job, ours)} <= {*files}


def test_every_registered_module_is_followed():
    for registry in (MECHANISMS, EXACT, ESTIMATORS, CLASSIFIERS):
        for module in map(registry.module, registry):
            assert module.rpartition(".")[2] in names(module)


def forget():
    """Forget all files that were read; a run of the workflow begins like this."""
    for name in ("digest", "_parsed", "_statements", "_imports"):
        getattr(code_digests, name).cache_clear()


def anew(*job):
    """Return a digest as a run that starts now would."""
    forget()
    return code_digests.digest(*job)


@pytest.fixture
def source(tmp_path, monkeypatch):
    """The library in a folder of its own, to be edited."""
    copied = tmp_path / "src"
    shutil.copytree("src", copied, ignore=shutil.ignore_patterns("__pycache__"))
    with monkeypatch.context() as patched:
        patched.setattr(code_digests, "_SOURCE", copied)
        patched.setattr(code_digests, "_STAGES", copied / "epsilometer_workflow/stages")
        patched.setattr(code_digests, "_KEEPS_JOBS", copied / "epsilometer_workflow/runtime")
        yield copied
    forget()


def edit(path, old, new):
    """Replace a text that a file must hold; without one, the new text comes last."""
    text = path.read_text()
    assert old in text, f"{path.name} no longer says {old!r}"
    path.write_text(text.replace(old, new, 1) if old else text + new)


SAMPLE = ("sample", LAPLACE)
STAGE, MECHANISM = ("epsilometer_workflow/stages/sample.py", "epsilometer/mechanisms/truncated.py")
DRAWING = "epsilometer/mechanisms/drawing.py"
DRAWN = "return np.asarray(outputs, kind.dtype)\n"
DOCSTRING = (
    '    """Write samples of the sides that ``sides_of`` names for each run, in that order."""\n'
)


NO_CODE = [  # a file, an old text and a new one; also of registries, and of modules not used
    (DRAWING, DRAWN, f"{DRAWN}# a comment\n"),
    (STAGE, DOCSTRING, '    """Other words."""\n'),
    (STAGE, DOCSTRING, ""),
    (MECHANISM, '    """', '    """Other words: '),
    ("epsilometer_workflow/runtime/job.py", "", "X = 1\n"),
    ("epsilometer/mechanisms/__init__.py", "{\n", '{\n        "other": "other:Other",\n'),
    ("epsilometer/mechanisms/noisy_sum.py", "", "X = 1\n"),
]
OTHER_CODE = [  # in the stage, the registered module or the modules these import
    (STAGE, "snakemake.output[0]", "snakemake.output[1]"),
    (DRAWING, DRAWN, "return np.asarray(outputs, kind.dtype) + 0\n"),
    (STAGE, 'f"side={side}"', 'f"side {side}"'),
    (DRAWING, DRAWN, f'"a text that is no docstring"\n    {DRAWN}'),
    ("epsilometer/seeds.py", 'from_bytes(digest, "big")', 'from_bytes(digest, "little")'),
    ("epsilometer/mechanisms/base.py", '"index": Kind(np.int32)', '"index": Kind(np.int64)'),
]


@pytest.mark.parametrize(("file", "old", "new"), NO_CODE)
def test_comments_docstrings_and_modules_that_run_jobs_are_no_code(source, file, old, new):
    before = code_digests.digest(*SAMPLE)
    edit(source / file, old, new)
    assert anew(*SAMPLE) == before


@pytest.mark.parametrize(("file", "old", "new"), OTHER_CODE)
def test_another_statement_or_number_is_other_code(source, file, old, new):
    before = code_digests.digest(*SAMPLE)
    edit(source / file, old, new)
    assert anew(*SAMPLE) != before


def test_a_template_counts_with_its_module(source):
    before = code_digests.digest("page")
    (source / "epsilometer_workflow/stages/page.html.j2").write_text("<h2>")
    assert anew("page") != before


def test_new_imports_are_followed_but_those_for_type_checkers(source):
    edit(source / MECHANISM, "", "from ..numerics import proportions\nfrom . import noisy_sum\n")
    late = "    from epsilometer.exact import quadrature\n    digest ="
    edit(source / "epsilometer/seeds.py", "    digest =", late)
    block = "if TYPE_CHECKING:\n    from epsilometer.estimators import planner\n"
    edit(source / "epsilometer/seeds.py", "\n\ndef generator", f"\n{block}\n\ndef generator")
    before = anew(*SAMPLE)
    modules = names(source / STAGE, LAPLACE)
    assert {"proportions", "noisy_sum", "quadrature"} <= modules
    assert "planner" not in modules
    edit(source / "epsilometer/exact/quadrature.py", "return ", "return 0 + ")
    assert anew(*SAMPLE) != before


def versions(*job):
    return dict(part.split("=") for part in code_digests.digest(*job).split()[1:])


FIGURES = "epsilometer_workflow.reports.kutta2022.figures"
LIBRARIES = {  # of each job; of the first, pandas is for type checkers only
    SAMPLE: "numpy pyarrow scipy",
    ("histogram",): "numba numpy pyarrow",
    ("classify", CLASSIFIERS.module("scikit_learn")): "numpy pyarrow sklearn",
    ("page",): "jinja2 numpy pandas pyarrow",
    ("render", FIGURES): "matplotlib numpy pandas pyarrow seaborn",
}


@pytest.mark.parametrize("job", LIBRARIES)
def test_libraries_that_compute_count_where_they_are_imported(job):
    assert set(versions(*job)) == set(LIBRARIES[job].split())


def test_another_version_of_a_library_is_other_code(monkeypatch):
    screen = "screen", ESTIMATORS.module("local_loss")
    bits = "sample", MECHANISMS.module("randomized_bits")
    before = {job: code_digests.digest(*job) for job in (bits, screen)}
    real = code_digests.version
    newer = {"scipy": "99", "scikit-learn": "98"}  # as it is called where it is installed
    monkeypatch.setattr(code_digests, "version", lambda name: newer.get(name) or real(name))
    forget()
    assert code_digests.digest(*bits) == before[bits]  # without SciPy
    assert code_digests.digest(*screen) != before[screen]
    assert versions(*screen)["scipy"] == "99"
    assert versions("classify", CLASSIFIERS.module("scikit_learn"))["sklearn"] == "98"
    forget()
