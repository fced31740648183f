# Environments for audits, from their locks; the table and the page of the museum, and of the census.
#
# Environments are made on the machine of Snakemake, because nodes of a cluster may have no network.
# `stopped` holds temporary errors, after which the same command tries again.


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


rule exhibit:
    input:
        unpack(make.exhibit.needs),
    output:
        csv=make.exhibit.path,
        parquet=paths.with_suffix(make.exhibit.path, ".parquet"),
        page=report(
            paths.with_suffix(make.exhibit.path, ".html"),
            category="{collection}",
            labels={"figure": "{collection}"},
        ),
    log:
        make.exhibit.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.exhibit.mem_mb,
        runtime=make.exhibit.runtime,
    params:
        spec=make.exhibit.spec,
        code=make.exhibit.code,
    script:
        "../scripts/exhibit.py"
