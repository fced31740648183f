"""Estimate the densities of every pair in one batch of samples."""

from epsilometer.job import job

with job(snakemake) as progress:
    from epsilometer.smoothing import smooth_file
    from epsilometer.storage import write_table

    spec = snakemake.params.spec
    densities = smooth_file(snakemake.input.samples, spec, progress)
    write_table(densities, snakemake.output[0], "densities", spec)
