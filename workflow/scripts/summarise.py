"""Collect the estimates of one experiment beside the exact values, and summarise them."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import summarise

    output = snakemake.output
    summarise.run(snakemake.input.estimates, output.summary, output.runs, snakemake.params.spec)
