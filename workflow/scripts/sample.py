"""Draw one batch of samples."""

from epsilometer_workflow.runtime.job import job

with job(snakemake) as progress:
    from epsilometer_workflow.stages import sample

    sample.run(snakemake.output[0], snakemake.params.spec, progress)
