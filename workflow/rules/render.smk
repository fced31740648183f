# Draw each figure from its table; make a page of each report, and of all reports.


rule render:
    input:
        unpack(make.render.needs),
    output:
        pdf=make.render.path,
        png=report(
            paths.with_suffix(make.render.path, ".png"),
            caption="../report/figure.rst",
            category="{report}",
            labels={"figure": "{artifact}"},
        ),
    log:
        make.render.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.render.mem_mb,
        runtime=make.render.runtime,
    params:
        spec=make.render.spec,
        code=make.render.code,
    script:
        "../scripts/render.py"


rule page:
    input:
        unpack(make.page.needs),
    output:
        report(
            make.page.path, category="{report}", labels={"figure": "all, with tables"}
        ),
    log:
        make.page.log,
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=make.page.mem_mb,
        runtime=make.page.runtime,
    params:
        spec=make.page.spec,
        code=make.page.code,
    script:
        "../scripts/page.py"
