# Reduce samples once for all estimators that read the same reduction: histograms, densities or losses
# of pairs, verdicts of a classifier, evidence of fresh samples. Then estimate.


rule histogram:
    input:
        unpack(make.histogram.needs),
    output:
        make.histogram.path,
    log:
        make.histogram.log,
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.histogram.mem_mb,
        runtime=make.histogram.runtime,
    params:
        spec=make.histogram.spec,
        code=make.histogram.code,
    script:
        "../scripts/histogram.py"


rule density:
    input:
        unpack(make.density.needs),
    output:
        make.density.path,
    log:
        make.density.log,
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.density.mem_mb,
        runtime=make.density.runtime,
    params:
        spec=make.density.spec,
        code=make.density.code,
    script:
        "../scripts/density.py"


rule classify:
    input:
        unpack(make.classify.needs),
    output:
        make.classify.path,
    log:
        make.classify.log,
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.classify.mem_mb,
        runtime=make.classify.runtime,
    params:
        spec=make.classify.spec,
        code=make.classify.code,
    script:
        "../scripts/classify.py"


rule screen:
    input:
        unpack(make.screen.needs),
    output:
        make.screen.path,
    log:
        make.screen.log,
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.screen.mem_mb,
        runtime=make.screen.runtime,
    params:
        spec=make.screen.spec,
        code=make.screen.code,
    script:
        "../scripts/screen.py"


rule weigh:
    input:
        unpack(make.weigh.needs),
    output:
        make.weigh.path,
    log:
        make.weigh.log,
    priority: 10  # consume samples before more are drawn, so that temporary ones go
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.weigh.mem_mb,
        runtime=make.weigh.runtime,
    params:
        spec=make.weigh.spec,
        code=make.weigh.code,
    script:
        "../scripts/weigh.py"


rule time:
    output:
        make.time.path,
    log:
        make.time.log,
    conda:
        "../../envs/environment.yaml"
    threads: workflow.resource_settings.cores or 1  # one job at a time
    resources:
        mem_mb=make.time.mem_mb,
        runtime=make.time.runtime,
    params:
        spec=make.time.spec,
        code=make.time.code,
    script:
        "../scripts/time.py"


rule estimate:
    input:
        unpack(make.estimate.needs),
    output:
        make.estimate.path,
    log:
        make.estimate.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.estimate.mem_mb,
        runtime=make.estimate.runtime,
    params:
        spec=make.estimate.spec,
        code=make.estimate.code,
    script:
        "../scripts/estimate.py"
