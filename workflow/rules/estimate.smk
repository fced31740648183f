# Reduce samples to histograms, once for all estimators with the same cells; then estimate.


rule histogram:
    input:
        samples=paths.SAMPLE,
        code=jobs.histogram_code,
    output:
        paths.HISTOGRAM,
    params:
        spec=jobs.histogram_spec,
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    log:
        paths.log(paths.HISTOGRAM),
    benchmark:
        paths.benchmark(paths.HISTOGRAM)
    conda:
        "../../envs/environment.yaml"
    script:
        "../scripts/histogram.py"


rule estimate:
    input:
        histograms=jobs.estimate_histograms,
        code=jobs.estimate_code,
    output:
        paths.ESTIMATE,
    params:
        spec=jobs.estimate_spec,
    log:
        paths.log(paths.ESTIMATE),
    benchmark:
        paths.benchmark(paths.ESTIMATE)
    conda:
        "../../envs/environment.yaml"
    script:
        "../scripts/estimate.py"
