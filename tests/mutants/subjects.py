"""Which tests ask what a module promises: the only ones that count for its mutants.

Those of `src/<package>/<folder>/<name>.py` are in `tests/unit/<package>/<folder>/test_<name>.py`.
Tests that compare with stored outputs (printed digits of pages, verdicts, archives) are not among
them: they say that something is different, not that it is wrong. Those beside other tests in a file
have the mark `stored`.
"""

from pathlib import Path

_LIBRARY = "unit/epsilometer"
_AUDIT = "unit/epsilometer_audit"
_WORKFLOW = "unit/epsilometer_workflow"
_LAWS = f"{_LIBRARY}/exact"
_OF_LAWS = "contract/test_laws.py"
_OF_MECHANISMS = [_OF_LAWS, "contract/test_mechanisms.py"]
_OUTPUTS = f"{_AUDIT}/outputs"
_ANY_OUTPUTS = [f"{_OUTPUTS}/test_containers.py", f"{_OUTPUTS}/test_leaks.py"]
_TABULATE = f"{_WORKFLOW}/stages/test_tabulate.py"
_ESTIMATE = f"{_WORKFLOW}/stages/test_estimate.py"
_SCREEN = f"{_WORKFLOW}/stages/test_screen.py"
_CLASSIFY = f"{_WORKFLOW}/stages/test_classify.py"
_BUILDERS = [
    f"{_WORKFLOW}/reports/{paper}/test_tables.py"
    for paper in ("askin2022", "gorla2022", "kutta2022", "lu2022", "plain")
]
SUBJECTS: dict[str, list[str]] = {  # studied modules, the first that fits: further files of tests
    "src/epsilometer/estimators/answering.py": ["contract/test_estimators.py"],
    "src/epsilometer/estimators/base.py": [f"{_LIBRARY}/estimators/test_answering.py"],
    "src/epsilometer/estimators/*.py": [],
    "src/epsilometer/densities/base.py": [f"{_LIBRARY}/densities/test_pair.py"],
    "src/epsilometer/densities/kernel.py": [f"{_LIBRARY}/densities/test_binned.py"],
    "src/epsilometer/densities/*.py": [],
    "src/epsilometer/classifiers/[dn]*.py": [f"{_LIBRARY}/classifiers/test_base.py"],
    "src/epsilometer/classifiers/*.py": [],
    "src/epsilometer/exact/base.py": [f"{_LAWS}/test_real_line.py", _OF_LAWS],
    "src/epsilometer/exact/levels.py": [f"{_LAWS}/test_finite.py", _OF_LAWS],
    "src/epsilometer/exact/noise.py": [f"{_LAWS}/test_noisy_max.py", _OF_LAWS],
    "src/epsilometer/exact/quadrature.py": [
        f"{_LAWS}/test_noisy_sum.py",
        f"{_LAWS}/test_truncated.py",
        _OF_LAWS,
    ],
    "src/epsilometer/exact/*.py": [_OF_LAWS],
    "src/epsilometer/mechanisms/finite.py": [f"{_LAWS}/test_finite.py", *_OF_MECHANISMS],
    "src/epsilometer/mechanisms/noisy_max.py": [f"{_LAWS}/test_noisy_max.py", *_OF_MECHANISMS],
    "src/epsilometer/mechanisms/real_line.py": [f"{_LAWS}/test_real_line.py", *_OF_MECHANISMS],
    "src/epsilometer/mechanisms/truncated.py": [f"{_LAWS}/test_truncated.py", *_OF_MECHANISMS],
    "src/epsilometer/mechanisms/*.py": _OF_MECHANISMS,
    "src/epsilometer/numerics/[bpr]*.py": [],
    "src/epsilometer/seeds.py": [],
    "src/epsilometer/samples.py": [f"{_LIBRARY}/test_estimates.py"],
    "src/epsilometer/events/exact_test.py": [f"{_AUDIT}/test_auditing.py"],  # a share that chooses
    "src/epsilometer/events/*.py": [],
    "src/epsilometer/measurement.py": ["contract/test_use_of_draws.py"],
    "src/epsilometer/claims.py": [
        f"{_LIBRARY}/events/test_exact_test.py",
        "contract/test_claims.py",
    ],
    "src/epsilometer_audit/question/claims.py": ["contract/test_claims.py"],
    "src/epsilometer_audit/question/[dert]*.py": [f"{_AUDIT}/question/test_domains.py"],
    "src/epsilometer_audit/question/*.py": [],
    "src/epsilometer_audit/outputs/callables.py": [
        f"{_AUDIT}/serving/test_sampling.py",
        f"{_AUDIT}/serving/test_loading.py",
        f"{_OUTPUTS}/test_child_process.py",
    ],
    "src/epsilometer_audit/outputs/child_process.py": [],
    "src/epsilometer_audit/outputs/formats.py": [f"{_AUDIT}/answer/test_verdict.py"],
    "src/epsilometer_audit/outputs/recorded.py": [],
    "src/epsilometer_audit/outputs/worker.py": [f"{_AUDIT}/serving/test_program.py"],
    "src/epsilometer_audit/outputs/outcomes.py": _ANY_OUTPUTS,
    "src/epsilometer_audit/outputs/words.py": [
        f"{_OUTPUTS}/test_outcomes.py",
        *_ANY_OUTPUTS,
        f"{_LIBRARY}/events/test_relations.py",
    ],
    "src/epsilometer_audit/outputs/*.py": [f"{_OUTPUTS}/test_outcomes.py", *_ANY_OUTPUTS],
    "src/epsilometer_audit/checks/[cp]*.py": [f"{_AUDIT}/checks/test_sampler.py"],
    "src/epsilometer_audit/checks/*.py": [],
    "src/epsilometer_audit/statistics/*.py": [],
    "src/epsilometer_audit/answer/*.py": [],
    "src/epsilometer_audit/auditing.py": [
        f"{_OUTPUTS}/test_recorded.py",
        "contract/test_use_of_draws.py",
    ],
    "src/epsilometer_workflow/stages/summarise.py": [],
    "src/epsilometer_workflow/stages/tabulate.py": _BUILDERS,
    "src/epsilometer_workflow/stages/page.py": [],
    "src/epsilometer_workflow/stages/typeset.py": [f"{_WORKFLOW}/reports/test_layouts.py"],
    "src/epsilometer_workflow/stages/render.py": [f"{_WORKFLOW}/products/test_rehearsal.py"],
    "src/epsilometer_workflow/stages/density.py": [_ESTIMATE],
    "src/epsilometer_workflow/stages/[cw]*.py": [_SCREEN, _ESTIMATE],  # classify, confirm, weigh
    "src/epsilometer_workflow/stages/estimate.py": [_SCREEN],
    "src/epsilometer_workflow/stages/*.py": [_CLASSIFY],
    "src/epsilometer_workflow/files/parsing.py": [],
    "src/epsilometer_workflow/files/storage.py": [_ESTIMATE, _SCREEN],
    "src/epsilometer_workflow/files/printed.py": [
        _TABULATE,
        f"{_WORKFLOW}/products/test_captions.py",
        f"{_WORKFLOW}/products/test_checking.py",
        f"{_WORKFLOW}/configuration/test_config.py",
    ],
    "src/epsilometer_workflow/files/*.py": [
        f"{_WORKFLOW}/files/test_storage.py",
        _ESTIMATE,
        _SCREEN,
        _CLASSIFY,
    ],
    "src/epsilometer_workflow/reports/style.py": [],  # how figures look is no promise
    "src/epsilometer_workflow/reports/layouts.py": [],
    "src/epsilometer_workflow/reports/*.py": [*_BUILDERS, _TABULATE],
    "src/epsilometer_workflow/reports/*/tables.py": [_TABULATE],
}


def tests_of(module: str) -> list[str]:
    """Return the files of tests of a module; none for a module that is not studied."""
    path = Path(module)
    for pattern, further in SUBJECTS.items():
        if path.match(pattern):
            own = Path("tests/unit", *path.parts[1:-1], f"test_{path.name}")
            of_its_name = [str(own)] if own.exists() else []
            return list(dict.fromkeys(of_its_name + [f"tests/{file}" for file in further]))
    return []
