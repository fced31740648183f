# Draw: a batch of runs of one mechanism at one epsilon on one set of inputs; then, for methods of
# two stages, fresh samples of the pair that each run selected.


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
    resources:
        mem_mb=jobs.memory("sample"),
        runtime=jobs.minutes("sample"),
    params:
        spec=jobs.sample_spec,
    script:
        "../scripts/sample.py"


rule confirm:
    input:
        losses=paths.LOSSES,
        code=jobs.confirmation_code,
    output:
        temp(paths.CONFIRMATION) if study.temporary_samples else paths.CONFIRMATION,
    log:
        paths.log(paths.CONFIRMATION),
    benchmark:
        paths.benchmark(paths.CONFIRMATION)
    priority: 5
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("confirm"),
        runtime=jobs.minutes("confirm"),
    params:
        spec=jobs.confirmation_spec,
    script:
        "../scripts/confirm.py"
