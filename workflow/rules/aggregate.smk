# Summarise the estimates of an experiment over runs, with the exact values; then build tables.


rule summarise:
    input:
        estimates=jobs.needs("summarise", "estimates"),
    output:
        summary="results/{scale}/summaries/{report}/{experiment}.parquet",
        runs="results/{scale}/runs/{report}/{experiment}.parquet",
    log:
        "results/{scale}/logs/summaries/{report}/{experiment}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("summarise"),
        code=jobs.code("summarise"),
    script:
        "../../src/epsilometer_workflow/stages/summarise.py"


rule tabulate:
    input:
        data=jobs.needs("tabulate", "data"),
    output:
        csv="results/{scale}/tables/{report}/{artifact}.csv",
        parquet="results/{scale}/tables/{report}/{artifact}.parquet",
        curve="results/{scale}/curves/{report}/{artifact}.parquet",  # exact values at many points, if any
    log:
        "results/{scale}/logs/tables/{report}/{artifact}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("tabulate"),
        code=jobs.code("tabulate"),
    script:
        "../../src/epsilometer_workflow/stages/tabulate.py"
