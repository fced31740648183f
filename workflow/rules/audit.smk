# Audit users' mechanisms: one job audits all claims about one mechanism on one set of pairs. Then make
# a table and a page of each file of audits.
#
# `made_of` holds digests of the mechanism's files, read when the DAG is made. `stopped` holds the reasons
# why earlier jobs were stopped; the same command then tries again. Environments for audits are made from their
# locks on the machine of Snakemake, because nodes of a cluster may have no network.


localrules:
    environment,


rule environment:
    output:
        make.environment.path,
    log:
        make.environment.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.environment.mem_mb,
        runtime=make.environment.runtime,
    params:
        spec=make.environment.spec,
        code=make.environment.code,
        stopped=make.environment.stopped,
    script:
        "../scripts/environment.py"


rule audit:
    input:
        unpack(make.audit.needs),
    output:
        verdicts=make.audit.path,
        page=paths.with_suffix(make.audit.path, ".html"),
    log:
        make.audit.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.audit.mem_mb,
        runtime=make.audit.runtime,
    params:
        spec=make.audit.spec,
        code=make.audit.code,
        made_of=make.audit.made_of,
        folder=make.audit.folder,
        replay=make.audit.replay,
        stopped=make.audit.stopped,
    script:
        "../scripts/audit.py"


rule conclude:
    input:
        unpack(make.conclude.needs),
    output:
        csv=make.conclude.path,
        parquet=paths.with_suffix(make.conclude.path, ".parquet"),
        page=report(
            paths.with_suffix(make.conclude.path, ".html"),
            category="audits",
            labels={"figure": "{audits}"},
        ),
    log:
        make.conclude.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.conclude.mem_mb,
        runtime=make.conclude.runtime,
    params:
        spec=make.conclude.spec,
        code=make.conclude.code,
    script:
        "../scripts/conclude.py"
