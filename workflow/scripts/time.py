"""Time the estimates of one experiment, one run after another."""

from epsilometer.runtime.job import job

with job(snakemake) as progress:
    from epsilometer.stages import time

    time.run(snakemake.output[0], snakemake.params.spec, progress)
