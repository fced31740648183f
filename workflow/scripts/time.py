"""Time the estimates of one experiment, one run after another."""

from epsilometer_workflow.runtime.job import job

with job(snakemake) as progress:
    from epsilometer_workflow.stages import time

    time.run(snakemake.output[0], snakemake.params.spec, progress)
