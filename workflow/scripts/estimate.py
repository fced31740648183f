"""Estimate from every run of one combination."""

from epsilometer.runtime.job import job

with job(snakemake):
    from epsilometer.stages import estimate

    estimate.run(snakemake.input.data, snakemake.output[0], snakemake.params.spec)
