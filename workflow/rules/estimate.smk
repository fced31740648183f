# Reduce samples to histograms, once for all estimators with the same cells; then estimate.


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
    params:
        spec=jobs.histogram_spec,
    script:
        "../scripts/histogram.py"


rule estimate:
    input:
        histograms=jobs.estimate_histograms,
        code=jobs.estimate_code,
    output:
        paths.ESTIMATE,
    log:
        paths.log(paths.ESTIMATE),
    benchmark:
        paths.benchmark(paths.ESTIMATE)
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.estimate_spec,
    script:
        "../scripts/estimate.py"
