# Draw: a batch of runs of one mechanism at one epsilon on one set of inputs.


rule sample:
    input:
        code=jobs.sample_code,
    output:
        temp(paths.SAMPLE) if study.temporary_samples else paths.SAMPLE,
    params:
        spec=jobs.sample_spec,
    log:
        paths.log(paths.SAMPLE),
    benchmark:
        paths.benchmark(paths.SAMPLE)
    conda:
        "../../envs/environment.yaml"
    script:
        "../scripts/sample.py"
