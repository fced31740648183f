# Reduce samples once for all estimators that read the same reduction: histograms, densities or losses
# of pairs, verdicts of a classifier, evidence of fresh samples; or answer from the samples themselves.
# Then estimate.
#
# `n={n}+{fresh}`: a pair and its events are chosen from n samples, and confirmed by so many fresh ones.


rule histogram:
    input:
        samples="results/{scale}/samples/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/runs={batch}.parquet",
    output:
        "results/{scale}/histograms/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/cells={cells}/runs={batch}.parquet",
    log:
        "results/{scale}/logs/histograms/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/cells={cells}/runs={batch}.log",
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("histogram"),
    params:
        spec=jobs.spec("histogram"),
        code=jobs.code("histogram"),
    script:
        "../../src/epsilometer_workflow/stages/histogram.py"


rule density:
    input:
        samples="results/{scale}/samples/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/runs={batch}.parquet",
    output:
        "results/{scale}/densities/{mechanism}/epsilon={epsilon}/{inputs}/{reduction}/n={n}/runs={batch}.parquet",
    log:
        "results/{scale}/logs/densities/{mechanism}/epsilon={epsilon}/{inputs}/{reduction}/n={n}/runs={batch}.log",
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("density"),
    params:
        spec=jobs.spec("density"),
        code=jobs.code("density"),
    script:
        "../../src/epsilometer_workflow/stages/density.py"


rule classify:
    input:
        samples="results/{scale}/samples/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/runs={batch}.parquet",
    output:
        "results/{scale}/verdicts/{mechanism}/epsilon={epsilon}/{inputs}/{classifier}/n={n}/runs={batch}.parquet",
    log:
        "results/{scale}/logs/verdicts/{mechanism}/epsilon={epsilon}/{inputs}/{classifier}/n={n}/runs={batch}.log",
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("classify", beside=2000),
    params:
        spec=jobs.spec("classify"),
        code=jobs.code("classify"),
    script:
        "../../src/epsilometer_workflow/stages/classify.py"


rule answer:
    input:
        samples="results/{scale}/samples/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/runs={batch}.parquet",
    output:
        "results/{scale}/answers/{mechanism}/epsilon={epsilon}/{inputs}/lambda={order}/{estimator}/n={n}/runs={batch}.parquet",
    log:
        "results/{scale}/logs/answers/{mechanism}/epsilon={epsilon}/{inputs}/lambda={order}/{estimator}/n={n}/runs={batch}.log",
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("answer", beside=2000),
    params:
        spec=jobs.spec("answer"),
        code=jobs.code("answer"),
    script:
        "../../src/epsilometer_workflow/stages/answer.py"


rule screen:
    input:
        samples="results/{scale}/samples/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/runs={batch}.parquet",
    output:
        "results/{scale}/losses/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.parquet",
    log:
        "results/{scale}/logs/losses/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.log",
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("screen"),
    params:
        spec=jobs.spec("screen"),
        code=jobs.code("screen"),
    script:
        "../../src/epsilometer_workflow/stages/screen.py"


rule weigh:
    input:
        samples="results/{scale}/confirmations/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.parquet",
        losses="results/{scale}/losses/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.parquet",
    output:
        "results/{scale}/evidence/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.parquet",
    log:
        "results/{scale}/logs/evidence/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.log",
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("weigh"),
    params:
        spec=jobs.spec("weigh"),
        code=jobs.code("weigh"),
    script:
        "../../src/epsilometer_workflow/stages/weigh.py"


rule estimate:
    input:
        jobs.needs("estimate", "reductions"),  # histograms, densities, verdicts, answers, losses or evidence
    output:
        "results/{scale}/estimates/{mechanism}/epsilon={epsilon}/{inputs}/lambda={order}/{estimator}/n={n}_runs={runs}.parquet",
    log:
        "results/{scale}/logs/estimates/{mechanism}/epsilon={epsilon}/{inputs}/lambda={order}/{estimator}/n={n}_runs={runs}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("estimate"),
        code=jobs.code("estimate"),
    script:
        "../../src/epsilometer_workflow/stages/estimate.py"


rule time:
    output:
        "results/{scale}/timings/{report}/{experiment}.parquet",
    log:
        "results/{scale}/logs/timings/{report}/{experiment}.log",
    conda:
        "../../envs/environment.yaml"
    threads: workflow.resource_settings.cores or 1  # one job at a time
    resources:
        mem_mb=jobs.memory("time"),
    params:
        spec=jobs.spec("time"),
        code=jobs.code("time"),
    script:
        "../../src/epsilometer_workflow/stages/time.py"
