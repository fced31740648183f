"""Show the verdicts of a collection beside the expected ones."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import exhibit

    template = f"{snakemake.scriptdir}/../report/collection.html.j2"
    exhibit.run(snakemake.input.verdicts, snakemake.output, template, snakemake.params.spec)
