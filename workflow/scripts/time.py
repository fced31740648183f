"""Time the estimates of one experiment, one run after another."""

from epsilometer.job import job

with job(snakemake) as progress:
    from epsilometer.storage import write_table
    from epsilometer.timing import time_runs

    spec = snakemake.params.spec
    write_table(time_runs(spec, progress), snakemake.output[0], "timings", spec["identity"])
