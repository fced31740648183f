"""Draw one batch of samples."""

from epsilometer.job import job

with job(snakemake) as progress:
    from epsilometer.sampling import write_batch

    write_batch(snakemake.output[0], snakemake.params.spec, progress)
