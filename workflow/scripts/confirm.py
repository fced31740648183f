"""Draw fresh samples of the pair that each run of one batch selected."""

from epsilometer_workflow.runtime.job import job

with job(snakemake) as progress:
    from epsilometer_workflow.stages import confirm

    confirm.run(snakemake.input.losses[0], snakemake.output[0], snakemake.params.spec, progress)
