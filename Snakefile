# epsilometer: from a configuration to the tables and figures of its reports.
#
#   snakemake --cores 2                          every report of config/reports/
#   snakemake --cores 2 gorla2022                one report
#   snakemake --cores 2 --config scale=paper     with the papers' sample sizes
#   snakemake --cores 2 audits                   every file of config/audits/; or another file or folder:
#                                                --config audits=../mine.yaml
#   snakemake --cores 2 museum                   known faults of released packages: docs/museum.md
#   snakemake --cores 2 census                   public mechanisms of current libraries: docs/census.md
#   snakemake --cores 2 benchmark                compared with other tools: docs/benchmark.md
#   snakemake --cores 2 results/quick/...        one file, by its path

import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(Path(workflow.basedir, "src")))  # the library beside this file

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.products.reports import (
    Rules,
    refuse_foreign_results,
)
from epsilometer_workflow.runtime import run
from epsilometer_workflow.runtime.cluster import cancel_orphans, refuse_unquotable
from epsilometer_workflow.runtime.provenance import failure_lines

began = time.time()
try:
    if workflow.remote_exec:  # checked before submission
        study = Study("config", config)
    else:
        study = checked("config", config)
        refuse_foreign_results(study)
except EpsilometerError as error:
    raise WorkflowError(str(error)) from None
make = Rules(study)


wildcard_constraints:
    **paths.ONE_NAME,


lock = run.Lock()
run.use_this_library(Path(workflow.basedir, "workflow/lazy"))


rule all:
    default_target: True
    input:
        [make.targets(name) for name in study.wanted],


rule audits:
    input:
        make.audits(),


rule museum:
    input:
        make.collection("museum"),


rule census:
    input:
        lambda _: make.collection("census"),


rule benchmark:
    input:
        make.benchmark(),


for name in study.reports:

    rule:
        name:
            name
        input:
            make.targets(name),


include: "workflow/rules/sample.smk"
include: "workflow/rules/estimate.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/render.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/museum.smk"
include: "workflow/rules/benchmark.smk"


# In a SLURM submission, its Snakemake runs the jobs itself: no srun and no Snakemake for each job.
if workflow.remote_exec:
    workflow.localrules(*(rule.name for rule in workflow.rules))
    run.start_forkserver()


onstart:
    try:
        if not workflow.local_exec:
            refuse_unquotable([Path.cwd(), workflow.basedir, sys.executable])
        lock.acquire()
        make.remember()
        cancel_orphans()
        run.clear_halves(f"results/{study.scale}")
        run.without_rate_limit(workflow)
        if workflow.local_exec:
            run.start_forkserver()
    except EpsilometerError as error:
        raise WorkflowError(str(error)) from None


onsuccess:
    run.clear_halves(f"results/{study.scale}")  # files of nodes that died
    print(make.result_lines())


onerror:
    print(failure_lines(workflow.dag.needrun_jobs(), began))
