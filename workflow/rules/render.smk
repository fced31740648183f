# Draw each figure from its table, and set tables as their paper does; make a page of each report.


rule render:
    input:
        table="results/{scale}/tables/{report}/{artifact}.parquet",
        curve="results/{scale}/curves/{report}/{artifact}.parquet",
    output:
        pdf="results/{scale}/figures/{report}/{artifact}.pdf",
        png=report(
            "results/{scale}/figures/{report}/{artifact}.png",
            caption="../report/figure.rst",
            category="{report}",
            labels={"figure": "{artifact}"},
        ),
    log:
        "results/{scale}/logs/figures/{report}/{artifact}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("render"),
        code=jobs.code("render"),
    script:
        "../../src/epsilometer_workflow/stages/render.py"


rule typeset:
    input:
        table="results/{scale}/tables/{report}/{artifact}.parquet",
    output:
        "results/{scale}/latex/{report}/{artifact}.tex",
    log:
        "results/{scale}/logs/latex/{report}/{artifact}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("typeset"),
        code=jobs.code("typeset"),
    script:
        "../../src/epsilometer_workflow/stages/typeset.py"


rule page:
    input:
        tables=jobs.needs("page", "tables"),
        figures=jobs.needs("page", "figures"),
    output:
        report(
            "results/{scale}/{report}.html",
            category="{report}",
            labels={"figure": "all, with tables"},
        ),
    log:
        "results/{scale}/logs/{report}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        spec=jobs.spec("page"),
        code=jobs.code("page"),
    script:
        "../../src/epsilometer_workflow/stages/page.py"
