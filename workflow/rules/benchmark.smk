# The benchmark: a job measures all implementations of a task, one after another, and runs alone on the
# machine; then a table and a figure of all tasks. Only `snakemake benchmark` runs it.


rule measure:
    input:
        unpack(make.measure.needs),
    output:
        make.measure.path,
    log:
        make.measure.log,
    conda:
        "../../envs/environment.yaml"
    threads: workflow.resource_settings.cores or 1  # one job at a time
    resources:
        mem_mb=make.measure.mem_mb,
        runtime=make.measure.runtime,
    params:
        spec=make.measure.spec,
        code=make.measure.code,
    script:
        "../scripts/measure.py"


rule compare:
    input:
        unpack(make.compare.needs),
    output:
        csv=make.compare.path,
        parquet=paths.with_suffix(make.compare.path, ".parquet"),
        pdf=paths.with_suffix(make.compare.path, ".pdf"),
        png=report(
            paths.with_suffix(make.compare.path, ".png"),
            category="benchmark",
            labels={"figure": "benchmark"},
        ),
    log:
        make.compare.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.compare.mem_mb,
        runtime=make.compare.runtime,
    params:
        spec=make.compare.spec,
        code=make.compare.code,
    script:
        "../scripts/compare.py"
