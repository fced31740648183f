"""Show a report on one page that asks for no other file."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import page

    template = f"{snakemake.scriptdir}/../report/page.html.j2"
    page.run(snakemake.input, snakemake.output[0], template, snakemake.params.spec)
