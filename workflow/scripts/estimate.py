"""Estimate from every run of one combination."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import estimate

    estimate.run(snakemake.input.data, snakemake.output[0], snakemake.params.spec)
