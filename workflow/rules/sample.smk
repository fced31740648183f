# Draw a batch of runs of one mechanism at one epsilon on one set of inputs. Methods of two stages then
# get fresh samples of the pair that each run selected.
#
# Each rule takes inputs, parameters and resources of its jobs from the product that it makes (`make`, from
# epsilometer_workflow.products.reports). `code` is a digest of the job's code: see docs/architecture.md.


rule sample:
    output:
        temp(make.sample.path) if study.temporary_samples else make.sample.path,
    log:
        make.sample.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.sample.mem_mb,
        runtime=make.sample.runtime,
    params:
        spec=make.sample.spec,
        code=make.sample.code,
    script:
        "../scripts/sample.py"


rule confirm:
    input:
        unpack(make.confirm.needs),
    output:
        temp(make.confirm.path) if study.temporary_samples else make.confirm.path,
    log:
        make.confirm.log,
    priority: 5
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.confirm.mem_mb,
        runtime=make.confirm.runtime,
    params:
        spec=make.confirm.spec,
        code=make.confirm.code,
    script:
        "../scripts/confirm.py"
