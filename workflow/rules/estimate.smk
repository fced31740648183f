# Reduce samples once for all estimators that ask alike: to histograms, to densities or losses of
# pairs, to what fresh samples say; then estimate.


rule histogram:
    input:
        samples=paths.SAMPLE,
        code=jobs.histogram_code,
    output:
        paths.HISTOGRAM,
    log:
        paths.log(paths.HISTOGRAM),
    benchmark:
        paths.benchmark(paths.HISTOGRAM)
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("histogram"),
        runtime=jobs.minutes("histogram"),
    params:
        spec=jobs.histogram_spec,
    script:
        "../scripts/histogram.py"


rule density:
    input:
        samples=paths.SAMPLE,
        code=jobs.density_code,
    output:
        paths.DENSITY,
    log:
        paths.log(paths.DENSITY),
    benchmark:
        paths.benchmark(paths.DENSITY)
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("density"),
        runtime=jobs.minutes("density"),
    params:
        spec=jobs.density_spec,
    script:
        "../scripts/density.py"


rule classify:
    input:
        samples=paths.SAMPLE,
        code=jobs.verdict_code,
    output:
        paths.VERDICTS,
    log:
        paths.log(paths.VERDICTS),
    benchmark:
        paths.benchmark(paths.VERDICTS)
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("classify"),
        runtime=jobs.minutes("classify"),
    params:
        spec=jobs.verdict_spec,
    script:
        "../scripts/classify.py"


rule screen:
    input:
        samples=jobs.losses_samples,
        code=jobs.losses_code,
    output:
        paths.LOSSES,
    log:
        paths.log(paths.LOSSES),
    benchmark:
        paths.benchmark(paths.LOSSES)
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("screen"),
        runtime=jobs.minutes("screen"),
    params:
        spec=jobs.losses_spec,
    script:
        "../scripts/screen.py"


rule weigh:
    input:
        samples=paths.CONFIRMATION,
        losses=paths.LOSSES,
        code=jobs.evidence_code,
    output:
        paths.EVIDENCE,
    log:
        paths.log(paths.EVIDENCE),
    benchmark:
        paths.benchmark(paths.EVIDENCE)
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("weigh"),
        runtime=jobs.minutes("weigh"),
    params:
        spec=jobs.evidence_spec,
    script:
        "../scripts/weigh.py"


rule time:
    input:
        code=jobs.timing_code,
    output:
        paths.TIMING,
    log:
        paths.log(paths.TIMING),
    benchmark:
        paths.benchmark(paths.TIMING)
    conda:
        "../../envs/environment.yaml"
    threads: workflow.cores or 1  # one job at a time
    resources:
        mem_mb=jobs.memory("time"),
        runtime=jobs.minutes("time"),
    params:
        spec=jobs.timing_spec,
    script:
        "../scripts/time.py"


rule estimate:
    input:
        data=jobs.estimate_data,
        code=jobs.estimate_code,
    output:
        paths.ESTIMATE,
    log:
        paths.log(paths.ESTIMATE),
    benchmark:
        paths.benchmark(paths.ESTIMATE)
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("estimate"),
        runtime=jobs.minutes("estimate"),
    params:
        spec=jobs.estimate_spec,
    script:
        "../scripts/estimate.py"
