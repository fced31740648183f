"""Compute the local loss of every pair in one batch of samples, and select."""

from epsilometer_workflow.runtime.job import job

with job(snakemake) as progress:
    from epsilometer_workflow.stages import screen

    screen.run(snakemake.input.samples[0], snakemake.output[0], snakemake.params.spec, progress)
