# Everything sets itself up: the environment is .venv, made from the lock files in envs/.
#   make figures [SCALE=quick] [CORES=2]   tables and figures of every report, and a page of each,
#                                          results/<scale>/<report>.html
#   make provenance [SCALE=quick]          Snakemake's own report: every job, its code and its times
#   make verify [SCALE=quick]              which tables are the same as those of archive/<scale>.zip; or with
#                                          RESULTS=folder, those of a folder; docs/verify.md
#   make freeze [SCALE=quick]              writes archive/<scale>.zip
#   make test                              the library, and each part of the workflow
#   make test-slow                         tests of the same that take a second or more each
#   make test-workflow                     whole runs of the workflow; makes the smoke scale if it is not there
#   make examples                          four more seeds of each example of an audit that has one in make test,
#                                          and the examples that take longest
#   make test-processors                   the smoke scale again as on an older processor: the same tables to the byte
#   make test-slurm                        on a real SLURM cluster of one node, brought up for it
#   make test-faults                       kills, full disks, damage
#   make museum [EXHIBITS=a,b]            known faults of released packages, each in its environment
#   make census [LIBRARIES=a,b]           public mechanisms of current libraries, each in its environment
#   make benchmark [SCALE=quick] [TASKS=a,b]  ours beside what a user would take instead
#   make limit [SCALE=quick]              draws and bounds of audits beside the least and the most that can be
#   make matrix [SCALE=quick]             every estimator on every mechanism, from the same draws
#   make scorecard [SCALE=quick]          how many of the papers' printed numbers agree with ours, and which do not
#   make confidence                        how often each bound lies above the truth, 1000 seeds a case
#   make audit-confidence                  how often an audit says "violated": correct mechanisms, and bugs;
#                                          and honest outputs of 3,000 forms
#   make mutants [MODULES="a b"] [SAMPLE=200]  small faults, one at a time: which of them do tests notice?
#   make architecture                      draws the folders and their imports into docs/architecture.md
#   make dist                              the packages, tried in an empty environment
#   make docs                              the documentation as a site, site/index.html
#   make lint                              style, types, import contracts, the workflow's own lint
PYTHON ?= python3
CORES ?= $(shell nproc)
SCALE ?= quick
SAMPLE ?= 200
BIN := .venv/bin
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
unexport PYTHONDONTWRITEBYTECODE # tests and runs start hundreds of interpreters

.PHONY: mutants matrix scorecard figures provenance verify freeze museum smoke test test-slow test-workflow examples test-processors test-slurm test-faults confidence audit-confidence architecture dist docs lint format benchmark census limit lock clean

figures: .venv/run
	@$(BIN)/snakemake --cores $(CORES) --config scale=$(SCALE)

provenance: figures
	@$(BIN)/snakemake --cores $(CORES) --config scale=$(SCALE) --report results/$(SCALE)/provenance.html

# Made again as far as Snakemake finds them missing or out of date; RESULTS takes a folder as it is.
verify: $(if $(RESULTS)$(wildcard archive/$(SCALE).zip),$(if $(RESULTS),.venv/run,figures),.venv/run)
	@PYTHONPATH=src $(BIN)/python archive/tables.py verify --scale $(SCALE) \
	    $(if $(RESULTS),--results "$(RESULTS)") $(if $(TOLERANCE),--tolerance $(TOLERANCE))

freeze: figures
	@PYTHONPATH=src $(BIN)/python archive/tables.py freeze --scale $(SCALE)

# Studies beside the project, each in its folder: studies/README.md.
STUDY = cd studies/$@ && ../../$(BIN)/snakemake --workflow-profile ../../profiles/default --cores $(CORES) --config scale=$(SCALE)
EXPECTED = cd studies/$@ && PYTHONPATH=../../src:.. ../../$(BIN)/python -m exhibition.collection results/$(SCALE)/$@.csv

matrix limit: .venv/run
	@$(STUDY)

benchmark: .venv/run
	@$(STUDY) $(if $(TASKS),'tasks=[$(TASKS)]')

scorecard: figures
	@PYTHONPATH=src:studies $(BIN)/python -m scorecard.view results/$(SCALE)

museum: .venv/run
	@$(STUDY) $(if $(EXHIBITS),'exhibits=[$(EXHIBITS)]')
	@$(EXPECTED)

census: .venv/run
	@$(STUDY) $(if $(LIBRARIES),'libraries=[$(LIBRARIES)]')
	@$(EXPECTED)

test: .venv/develop
	$(BIN)/pytest -n $(CORES) --dist worksteal

test-slow: .venv/develop
	$(BIN)/pytest -n $(CORES) --dist worksteal -m "slow and not examples"

# Many of these compare with the smoke scale, which is made, or found, in this folder, once for all of them.
smoke: .venv/develop
	@$(BIN)/snakemake --cores $(CORES) --config scale=smoke

test-workflow: smoke
	$(BIN)/pytest -n $(CORES) --dist worksteal -m "not examples" tests/workflow studies/*/tests/test_*_runs.py

examples: .venv/develop
	$(BIN)/pytest -n $(CORES) --dist worksteal -m examples tests/unit

test-processors: smoke
	$(BIN)/pytest tests/processors

test-slurm: .venv/develop
	$(BIN)/pytest tests/cluster

test-faults: smoke
	$(BIN)/pytest -n $(CORES) --dist worksteal tests/faults

confidence: .venv/develop
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.levels --cores $(CORES)

lint: .venv/develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile workflow/main.smk workflow/rules studies/*/Snakefile studies/exhibition
	$(BIN)/snakemake --lint

mutants: .venv/develop .venv/mutants/done
	@.venv/mutants/bin/python -m tests.mutants --sample $(SAMPLE) --jobs $(CORES) $(if $(MODULES),--modules $(MODULES))

architecture:
	@$(PYTHON) -m tests.architecture

dist: .venv/develop .venv/release/done
	rm -rf dist
	$(BIN)/python -m hatchling build
	.venv/release/bin/twine check --strict dist/*
	$(BIN)/pytest tests/release/test_dist.py

docs: .venv/develop .venv/release/done
	$(BIN)/python -m tests.gallery pictures
	NO_MKDOCS_2_WARNING=1 .venv/release/bin/mkdocs build --quiet
	$(BIN)/pytest tests/release/test_site.py
	@echo "The site: site/index.html; its search needs a server, python3 -m http.server -d site"

format: .venv/develop
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/Snakefile workflow/main.smk workflow/rules studies/*/Snakefile studies/exhibition

audit-confidence: .venv/develop
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.audit_levels --cores $(CORES)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.detectable --cores $(CORES)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.one_run_levels --cores $(CORES)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.forms --cores $(CORES)

# Pins every dependency for Python 3.11 and later; after a change in pyproject.toml.
PIN = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock: .venv/bin/uv
	$(PIN) --extra workflow pyproject.toml -o envs/requirements.lock
	$(PIN) --extra dev pyproject.toml -o envs/requirements-dev.lock
	$(PIN) --group release -o envs/requirements-release.lock
	$(PIN) --group mutants -o envs/requirements-mutants.lock
	$(PIN) --group installer -o envs/requirements-installer.lock

clean:
	rm -rf .venv .snakemake dist site
	find results -mindepth 1 -not -name README.md -delete

# uv installs a lock with a tenth of pip's CPU; where it cannot, as behind a mirror that only pip knows, pip does.
LOCK = install --quiet --require-hashes -r $<
install = $(BIN)/uv pip $(LOCK) --python $(1) \
    || { echo "uv cannot install $<; pip does" >&2; $(BIN)/pip --python $(1)/bin/python $(LOCK); }

.venv/bin/uv: envs/requirements-installer.lock
	$(PYTHON) -m venv .venv
	$(BIN)/pip $(LOCK) --disable-pip-version-check
	@touch $@

.venv/run: envs/requirements.lock .venv/bin/uv
	@$(call install,.venv)
	@touch $@

.venv/develop: envs/requirements-dev.lock pyproject.toml .venv/bin/uv
	@$(call install,.venv)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@ .venv/run

.venv/%/done: envs/requirements-%.lock .venv/bin/uv
	$(PYTHON) -m venv --without-pip .venv/$*
	@$(call install,.venv/$*)
	@touch $@
