# Environments, and audits of mechanisms: one job for each case of a file of audits. For a Snakefile that has loaded the workflow as the module `epsilometer`.
#
# `made_of` holds digests of the mechanism's files, read when the DAG is made. `stopped` holds the reasons
# why earlier jobs were stopped; the same command then tries again. Environments are made from their locks
# on the machine of Snakemake, because nodes of a cluster may have no network.

from epsilometer.errors import EpsilometerError
from exhibition.products import AuditJobs, AuditStudy
from snakemake.exceptions import WorkflowError

try:
    study = AuditStudy("config", epsilometer.study.overrides)
except EpsilometerError as error:
    raise WorkflowError(str(error)) from None
audited = AuditJobs(study)


localrules:
    environment,


rule environment:
    output:
        "results/environments/{environment}/environment.json",
    log:
        "results/environments/logs/{environment}/environment.log",
    wildcard_constraints:
        environment="[^/]+",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=audited.spec("environment"),
        code=audited.code("environment"),
        stopped=audited.stopped("environment"),
    script:
        "environment.py"


rule audit:
    input:
        environment=audited.needs("audit", "environment"),
    output:
        verdicts="results/{scale}/audits/{audits}/{name}.parquet",
        page="results/{scale}/audits/{audits}/{name}.html",
    log:
        "results/{scale}/logs/audits/{audits}/{name}.log",
    wildcard_constraints:
        audits="[^/]+",
        name="[^/]+",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=audited.spec("audit"),
        code=audited.code("audit"),
        made_of=audited.of_audit("made_of"),
        folder=audited.of_audit("folder"),
        replay=audited.of_audit("replay"),
        stopped=audited.stopped("audit"),
    script:
        "audit.py"
