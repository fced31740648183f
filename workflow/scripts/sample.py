"""Draw one batch of samples."""

from epsilometer.runtime.job import job

with job(snakemake) as progress:
    from epsilometer.stages import sample

    sample.run(snakemake.output[0], snakemake.params.spec, progress)
