"""Draw one figure from its table."""

from epsilometer.runtime.job import job

with job(snakemake):
    from epsilometer.stages import render

    render.run(snakemake.input.table[0], snakemake.output.pdf, snakemake.params.spec)
