"""Collect the estimates of one experiment beside the exact values, and summarise them."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import summarise

    made = snakemake.output
    summarise.run(snakemake.input.estimates, made.summary, made.runs, snakemake.params.spec)
