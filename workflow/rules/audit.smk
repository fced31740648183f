# Audit users' mechanisms: one job audits all claims about one mechanism on one set of pairs. Then make
# a table and a page of each file of audits.
#
# `made_of` holds digests of the mechanism's files, read when the DAG is made. `stopped` holds the reasons
# why earlier jobs were stopped; the same command then tries again. Environments for audits are made from
# their locks on the machine of Snakemake, because nodes of a cluster may have no network.


localrules:
    environment,


rule environment:
    output:
        "results/environments/{environment}/environment.json",
    log:
        "results/environments/logs/{environment}/environment.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("environment"),
        code=jobs.code("environment"),
        stopped=jobs.stopped("environment"),
    script:
        "../../src/epsilometer_workflow/stages/environment.py"


rule audit:
    input:
        environment=jobs.environment_of_audit,
    output:
        verdicts="results/{scale}/audits/{audits}/{entry}/{parameters}/{pairs}.parquet",
        page="results/{scale}/audits/{audits}/{entry}/{parameters}/{pairs}.html",
    log:
        "results/{scale}/logs/audits/{audits}/{entry}/{parameters}/{pairs}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("audit"),
        code=jobs.code("audit"),
        made_of=jobs.files_of_audit,
        folder=jobs.folder_of_audit,
        replay=jobs.command_of_audit,
        stopped=jobs.stopped("audit"),
    script:
        "../../src/epsilometer_workflow/stages/audit.py"


rule conclude:
    input:
        verdicts=jobs.verdicts_of_file,
    output:
        csv="results/{scale}/audits/{audits}.csv",
        parquet="results/{scale}/audits/{audits}.parquet",
        page=report(
            "results/{scale}/audits/{audits}.html",
            category="audits",
            labels={"figure": "{audits}"},
        ),
    log:
        "results/{scale}/logs/audits/{audits}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("conclude"),
        code=jobs.code("conclude"),
    script:
        "../../src/epsilometer_workflow/stages/conclude.py"
