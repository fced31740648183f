"""Reduce one batch of fresh samples to what they say about the selected pairs."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import weigh

    samples, losses = snakemake.input.samples[0], snakemake.input.losses[0]
    weigh.run(samples, losses, snakemake.output[0], snakemake.params.spec)
