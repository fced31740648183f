# All rules. Snakemake is given the Snakefile beside this file, or the one of this repository.
#
# The workflow's own files lie beside this file; config/ and results/ lie in the working directory.

import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError

here = Path(workflow.current_basedir.get_path_or_uri(secret_free=True))
sys.path.insert(0, str(here.parent / "src"))  # the library of this clone

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.products.jobs import Jobs
from epsilometer_workflow.products.reports import refuse_foreign_results
from epsilometer_workflow.runtime import run
from epsilometer_workflow.runtime.cluster import (
    cancel_orphans,
    refuse_unquotable,
    refuse_without_slurm,
)
from epsilometer_workflow.runtime.provenance import causes_of, failure_lines

began = time.time()
try:
    if workflow.remote_exec:  # checked before submission
        study = Study("config", config)
    else:
        study = checked("config", config)
        refuse_foreign_results(study)
except EpsilometerError as error:
    raise WorkflowError(str(error)) from None
jobs = Jobs(study)

# Samples are deleted once they have been reduced, at scales that say so.
temporary = temp if study.main.scales[study.scale].temporary_samples else str


wildcard_constraints:
    **paths.ONE_NAME,


lock = run.Lock()
run.use_this_library(here / "lazy", study.code)


rule all:
    default_target: True
    input:
        [jobs.files_of_report(name) for name in study.wanted],


for name in study.reports:

    rule:
        name:
            name
        input:
            jobs.files_of_report(name),


include: "rules/sample.smk"
include: "rules/estimate.smk"
include: "rules/aggregate.smk"
include: "rules/render.smk"


# In a SLURM submission, its Snakemake runs the jobs itself: no srun and no Snakemake for each job.
if workflow.remote_exec:
    workflow.localrules(*(rule.name for rule in workflow.rules))
    run.start_forkserver()


onstart:
    try:
        if not workflow.local_exec:
            refuse_unquotable([Path.cwd(), here.parent, sys.executable])
        if workflow.executor_plugin.name == "slurm":
            refuse_without_slurm()
        lock.acquire()
        cancel_orphans()
        run.clear_halves(f"results/{study.scale}")
        run.without_rate_limit(workflow)
        if workflow.local_exec:
            run.start_forkserver()
    except EpsilometerError as error:
        raise WorkflowError(str(error)) from None


onsuccess:
    run.clear_halves(f"results/{study.scale}")  # files of nodes that died
    print(jobs.result_lines())


onerror:
    unfinished = list(workflow.dag.needrun_jobs())
    print(failure_lines(unfinished, began))
    if not workflow.remote_exec:
        for line in jobs.incomplete_pages(unfinished, causes_of(unfinished, began)):
            print(line)
