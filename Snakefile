# epsilometer: from a configuration to the tables and figures of four papers.
#
#   snakemake --cores 2                          every paper of config/config.yaml
#   snakemake --cores 2 gorla2022                one paper
#   snakemake --cores 2 --config scale=paper     as large as the papers ran it
#   snakemake --cores 2 results/quick/...        any one file, by its path

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(Path(workflow.basedir, "src")))  # the library beside this file

from epsilometer import paths
from epsilometer.errors import EpsilometerError
from epsilometer.job import RunLock, use_this_library
from epsilometer.jobs import Jobs
from epsilometer.study import Study

try:
    study = Study("config", overrides=config)
except EpsilometerError as error:
    raise WorkflowError(str(error)) from None
jobs = Jobs(study)
lock = RunLock()
use_this_library()


rule all:
    default_target: True
    input:
        [jobs.targets(paper) for paper in study.main.papers],


for paper in study.papers:

    rule:
        name:
            paper
        input:
            jobs.targets(paper),


include: "workflow/rules/sample.smk"
include: "workflow/rules/estimate.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/render.smk"


onstart:
    try:
        lock.acquire(f"results/{study.scale}")
    except EpsilometerError as error:
        raise WorkflowError(str(error)) from None


onsuccess:
    print(study.where_results_are())


onerror:
    print(
        f"Something failed; logs are in results/{study.scale}/logs. What is done stays."
    )
