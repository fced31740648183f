"""Collect the estimates of one experiment beside the exact values, and summarise them."""

from epsilometer.runtime.job import job

with job(snakemake):
    from epsilometer.stages import summarise

    made = snakemake.output
    summarise.run(snakemake.input.estimates, made.summary, made.runs, snakemake.params.spec)
