"""Draw fresh samples of the pair that each run of one batch selected."""

from epsilometer.job import job

with job(snakemake) as progress:
    from epsilometer.screening import confirm

    confirm(snakemake.output[0], snakemake.input.losses, snakemake.params.spec, progress)
