"""Which tests ask what a module promises: the only ones that count for its mutants.

Tests that compare with stored outputs (printed digits of pages, verdicts, archives) are not among
them: they say that something is different, not that it is wrong. Those beside other tests in a file
have the mark `stored`.
"""

from pathlib import Path

_NEIGHBOURS = "unit/test_audit_neighbours.py"
_LOOKS = "unit/test_audit_looks.py"
_WHOLE = "unit/test_whole_outputs.py"
_STAGES = ["unit/test_stages.py", "unit/epsilometer_workflow/stages/test_answer.py"]
_TABLES = ["unit/test_tables.py", "unit/test_captions.py", "unit/test_curves.py"]
SUBJECTS: dict[str, list[str]] = {  # the first pattern that fits a module
    "src/epsilometer/estimators/answering.py": ["contract/test_estimators.py"],
    "src/epsilometer/estimators/base.py": ["unit/epsilometer/estimators/test_answering.py"],
    "src/epsilometer/estimators/*.py": [],
    "src/epsilometer/densities/base.py": ["unit/epsilometer/densities/test_pair.py"],
    "src/epsilometer/densities/*.py": [],
    "src/epsilometer/classifiers/[dn]*.py": ["unit/epsilometer/classifiers/test_base.py"],
    "src/epsilometer/classifiers/*.py": [],
    "src/epsilometer/exact/*.py": ["unit/test_exact.py", "contract/test_laws.py"],
    "src/epsilometer/mechanisms/*.py": [
        "unit/test_noise.py",
        "unit/test_exact.py",
        "contract/test_laws.py",
        "contract/test_mechanisms.py",
    ],
    "src/epsilometer/events/exact_test.py": ["unit/test_berger_boos.py"],
    "src/epsilometer/numerics/[bpr]*.py": [],
    "src/epsilometer/seeds.py": ["unit/test_registry.py"],
    "src/epsilometer/samples.py": ["unit/test_arrays.py", "unit/test_estimates.py"],
    "src/epsilometer/events/limits.py": ["contract/test_measure.py"],
    "src/epsilometer/events/relations.py": ["unit/test_relations.py"],
    "src/epsilometer/events/fine_cells.py": ["unit/test_fine_cells.py", _LOOKS],
    "src/epsilometer/events/looks.py": ["unit/test_looks.py"],
    "src/epsilometer/events/scores.py": ["unit/test_looks.py", "unit/test_events.py"],
    "src/epsilometer/events/*.py": ["unit/test_events.py", "unit/test_relations.py", _LOOKS],
    "src/epsilometer/measurement.py": ["contract/test_measure.py", "contract/test_use_of_draws.py"],
    "src/epsilometer/claims.py": ["unit/test_berger_boos.py", "contract/test_claims.py"],
    "src/epsilometer_audit/question/request.py": ["unit/test_audit.py"],
    "src/epsilometer_audit/question/claims.py": ["contract/test_claims.py"],
    "src/epsilometer_audit/question/shares.py": ["unit/test_wealth.py"],
    "src/epsilometer_audit/question/pairs.py": ["unit/test_accepted_pairs.py"],
    "src/epsilometer_audit/question/question.py": ["unit/test_audit.py", "unit/test_verdict.py"],
    "src/epsilometer_audit/question/*.py": ["unit/test_audit_domains.py", _NEIGHBOURS],
    "src/epsilometer_audit/outputs/callables.py": ["unit/test_audit_sources.py"],
    "src/epsilometer_audit/outputs/child_process.py": ["unit/test_child_process.py"],
    "src/epsilometer_audit/outputs/formats.py": [
        "unit/test_audit_domains.py",
        "unit/test_audit.py",
        "unit/test_verdict.py",
    ],
    "src/epsilometer_audit/outputs/recorded.py": ["unit/test_audit_recorded.py"],
    "src/epsilometer_audit/outputs/words.py": [
        "unit/test_audit_outcomes.py",
        "unit/test_relations.py",
        _WHOLE,
    ],
    "src/epsilometer_audit/outputs/worker.py": ["unit/test_audit_sources.py"],
    "src/epsilometer_audit/outputs/*.py": ["unit/test_audit_outcomes.py", _WHOLE],
    "src/epsilometer_audit/checks/accepted_pairs.py": ["unit/test_accepted_pairs.py"],
    "src/epsilometer_audit/checks/fresh_processes.py": [
        "unit/test_audit_sampler.py",
        "unit/test_constant_seeds.py",
    ],
    "src/epsilometer_audit/checks/*.py": ["unit/test_audit_sampler.py"],
    "src/epsilometer_audit/statistics/guessing.py": ["unit/test_one_run.py"],
    "src/epsilometer_audit/statistics/profiles.py": ["unit/test_profiles.py"],
    "src/epsilometer_audit/statistics/predictors.py": ["unit/test_predictors.py"],
    "src/epsilometer_audit/statistics/portfolio.py": ["unit/test_portfolio.py"],
    "src/epsilometer_audit/statistics/projection.py": ["unit/test_predictors.py"],
    "src/epsilometer_audit/statistics/stakes.py": ["unit/test_stakes.py"],
    "src/epsilometer_audit/statistics/witnesses.py": ["unit/test_witnesses.py"],
    "src/epsilometer_audit/statistics/power.py": ["unit/test_power.py"],
    "src/epsilometer_audit/statistics/bets.py": ["unit/test_bets.py"],
    "src/epsilometer_audit/statistics/wealth.py": ["unit/test_wealth.py"],
    "src/epsilometer_audit/statistics/rounds.py": ["unit/test_rounds.py"],
    "src/epsilometer_audit/answer/one_run.py": ["unit/test_one_run.py"],
    "src/epsilometer_audit/answer/*.py": ["unit/test_verdict.py"],
    "src/epsilometer_workflow/stages/summarise.py": _TABLES,
    "src/epsilometer_workflow/stages/tabulate.py": _TABLES,
    "src/epsilometer_workflow/stages/page.py": ["unit/test_report.py"],
    "src/epsilometer_workflow/stages/typeset.py": ["unit/test_report.py"],
    "src/epsilometer_workflow/stages/render.py": ["unit/test_curves.py", "unit/test_rehearsal.py"],
    "src/epsilometer_workflow/stages/*.py": _STAGES,
    "src/epsilometer_workflow/files/parsing.py": ["unit/test_bad_paths.py"],
    "src/epsilometer_workflow/files/*.py": ["unit/test_storage.py", "unit/test_stages.py"],
    "src/epsilometer_workflow/reports/style.py": [],  # how figures look is no promise
    "src/epsilometer_workflow/reports/layouts.py": ["unit/test_report.py"],
    "src/epsilometer_workflow/reports/*.py": _TABLES,
    "src/epsilometer_workflow/reports/*/tables.py": _TABLES,
    "src/epsilometer_audit/auditing.py": [
        "unit/test_audit.py",
        "unit/test_audit_recorded.py",
        "contract/test_use_of_draws.py",
    ],
}


def tests_of(module: str) -> list[str]:
    """Return the files of tests of a module; none for a module that is not studied.

    The promises of `src/<package>/<folder>/<name>.py` are in `tests/unit/<package>/<folder>/
    test_<name>.py`; the table has those that ask for more, or for a module without such a file.
    """
    path = Path(module)
    for pattern, files in SUBJECTS.items():
        if path.match(pattern):
            own = Path("tests/unit", *path.parts[1:-1], f"test_{path.name}")
            of_its_name = [str(own)] if own.exists() else []
            return of_its_name + [f"tests/{file}" for file in files]
    return []
