"""Compute the local loss of every pair in one batch of samples, and select."""

from epsilometer.job import job

with job(snakemake) as progress:
    from epsilometer.screening import losses_of
    from epsilometer.storage import write_table

    spec = snakemake.params.spec
    losses = losses_of(snakemake.input.samples, spec, progress)
    write_table(losses, snakemake.output[0], "losses", spec)
