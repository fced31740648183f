# epsilometer: from a configuration to the tables and figures of four papers.
#
#   snakemake --cores 2                          every paper of config/config.yaml
#   snakemake --cores 2 gorla2022                one paper
#   snakemake --cores 2 --config scale=paper     as large as the papers ran it
#   snakemake --cores 2 results/quick/...        any one file, by its path

import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(Path(workflow.basedir, "src")))  # the library beside this file

from epsilometer import paths
from epsilometer.cluster import cancel_orphans, refuse_unquotable
from epsilometer.errors import EpsilometerError
from epsilometer.job import RunLock, clear_halves, use_this_library
from epsilometer.needs import Needs
from epsilometer.provenance import what_is_missing
from epsilometer.study import Study

began = time.time()
try:
    study = Study("config", overrides=config, check=not workflow.remote_exec)
    jobs = Needs(study)
    if not workflow.remote_exec:
        jobs.refuse_foreign_results()
except EpsilometerError as error:
    raise WorkflowError(str(error)) from None
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


# Within an allocation jobs run in its Snakemake, not each in an srun and a Snakemake of its own.
if workflow.remote_exec:
    workflow.localrules(*(rule.name for rule in workflow.rules))


onstart:
    try:
        if not workflow.local_exec:
            refuse_unquotable([Path.cwd(), workflow.basedir, sys.executable])
        lock.acquire()
        cancel_orphans()
        clear_halves(f"results/{study.scale}")
    except EpsilometerError as error:
        raise WorkflowError(str(error)) from None


onsuccess:
    print(study.where_results_are())


onerror:
    print(what_is_missing(workflow.dag.needrun_jobs(), began))
