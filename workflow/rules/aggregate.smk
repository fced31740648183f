# Summarise the estimates of an experiment over runs, with the exact values; then build tables.


rule summarise:
    input:
        unpack(make.summarise.needs),
    output:
        summary=make.summarise.path,
        runs=paths.RUNS,
    log:
        make.summarise.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.summarise.mem_mb,
        runtime=make.summarise.runtime,
    params:
        spec=make.summarise.spec,
        code=make.summarise.code,
    script:
        "../scripts/summarise.py"


rule tabulate:
    input:
        unpack(make.tabulate.needs),
    output:
        csv=make.tabulate.path,
        parquet=paths.with_suffix(make.tabulate.path, ".parquet"),
    log:
        make.tabulate.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.tabulate.mem_mb,
        runtime=make.tabulate.runtime,
    params:
        spec=make.tabulate.spec,
        code=make.tabulate.code,
    script:
        "../scripts/tabulate.py"
