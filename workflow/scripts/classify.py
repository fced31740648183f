"""Train and test a classifier on every pair of one batch of samples."""

from epsilometer_workflow.runtime.job import job

with job(snakemake) as progress:
    from epsilometer_workflow.stages import classify

    classify.run(snakemake.input.samples[0], snakemake.output[0], snakemake.params.spec, progress)
