# Draw each figure from its table, and show everything of a paper on one page.


rule render:
    input:
        table=paths.beside(paths.TABLE, ".parquet"),
        code=jobs.figure_code,
    output:
        pdf=paths.FIGURE,
        png=report(
            paths.beside(paths.FIGURE, ".png"),
            caption="../report/figure.rst",
            category="{paper}",
            labels={"figure": "{artifact}"},
        ),
    log:
        paths.log(paths.FIGURE),
    benchmark:
        paths.benchmark(paths.FIGURE)
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("render"),
        runtime=jobs.minutes("render"),
    params:
        spec=jobs.figure_spec,
    script:
        "../scripts/render.py"


rule page:
    input:
        tables=jobs.page_tables,
        figures=jobs.page_figures,
        template="workflow/report/page.html.j2",
        code=jobs.page_code,
    output:
        report(paths.PAGE, category="{paper}", labels={"figure": "all, with tables"}),
    log:
        paths.log(paths.PAGE),
    benchmark:
        paths.benchmark(paths.PAGE)
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("page"),
        runtime=jobs.minutes("page"),
    params:
        spec=jobs.page_spec,
    script:
        "../scripts/page.py"
