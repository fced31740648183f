"""Show all reports, and what was made beside them, on one page that asks for no other file."""

from epsilometer.runtime.job import job

with job(snakemake):
    from epsilometer.stages import report

    template = f"{snakemake.scriptdir}/../report/report.html.j2"
    report.run(snakemake.input, snakemake.output[0], template, snakemake.params.spec)
