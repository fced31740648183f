# Summarise an experiment's estimates over runs, beside the exact values; then build tables.


rule summarise:
    input:
        estimates=jobs.summary_estimates,
        code=jobs.summary_code,
    output:
        summary=paths.SUMMARY,
        runs=paths.RUNS,
    log:
        paths.log(paths.SUMMARY),
    benchmark:
        paths.benchmark(paths.SUMMARY)
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("summarise"),
        runtime=jobs.minutes("summarise"),
    params:
        spec=jobs.summary_spec,
    script:
        "../scripts/summarise.py"


rule tabulate:
    input:
        data=jobs.table_data,
        code=jobs.table_code,
    output:
        csv=paths.TABLE,
        parquet=paths.beside(paths.TABLE, ".parquet"),
    log:
        paths.log(paths.TABLE),
    benchmark:
        paths.benchmark(paths.TABLE)
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("tabulate"),
        runtime=jobs.minutes("tabulate"),
    params:
        spec=jobs.table_spec,
    script:
        "../scripts/tabulate.py"
