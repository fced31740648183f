"""Show all that the benchmark measured: a table and a figure."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import compare

    compare.run(snakemake.input.measured, snakemake.output, snakemake.params.spec)
