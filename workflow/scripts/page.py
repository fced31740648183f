"""Show every table and figure of one report on one page."""

from epsilometer.runtime.job import job

with job(snakemake):
    from epsilometer.stages import page

    template = f"{snakemake.scriptdir}/../report/page.html.j2"
    page.run(snakemake.output[0], template, snakemake.params.spec)
