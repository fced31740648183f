"""Show what was found in every exhibit of the museum, beside what was expected."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import exhibit

    template = f"{snakemake.scriptdir}/../report/museum.html.j2"
    exhibit.run(snakemake.input.verdicts, snakemake.output, template, snakemake.params.spec)
