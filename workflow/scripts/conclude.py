"""Collect all verdicts of one file of audits in a table and on a page."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import conclude

    template = f"{snakemake.scriptdir}/../report/audits.html.j2"
    conclude.run(snakemake.input.verdicts, snakemake.output, template, snakemake.params.spec)
