"""Estimate from every run of one combination."""

from epsilometer.job import job

with job(snakemake):
    from epsilometer.estimation import estimate_files
    from epsilometer.storage import write_table

    spec = snakemake.params.spec
    estimates = estimate_files(snakemake.input.data, spec)
    write_table(estimates, snakemake.output[0], "estimates", spec["identity"])
