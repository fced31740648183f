"""Draw one figure from its table."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import render

    render.run(snakemake.input.table[0], snakemake.output.pdf, snakemake.params.spec)
