# Draw: a batch of runs of one mechanism at one epsilon on one set of inputs.


rule sample:
    input:
        code=jobs.sample_code,
    output:
        temp(paths.SAMPLE) if study.temporary_samples else paths.SAMPLE,
    log:
        paths.log(paths.SAMPLE),
    benchmark:
        paths.benchmark(paths.SAMPLE)
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.sample_spec,
    script:
        "../scripts/sample.py"
