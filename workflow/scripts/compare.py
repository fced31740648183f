"""Show all that the benchmark measured: a table and a figure."""

from epsilometer.runtime.job import job

with job(snakemake):
    from epsilometer.stages import compare

    compare.run(snakemake.input.measured, snakemake.output, snakemake.params.spec)
