"""Train and test a classifier on every pair of one batch of samples."""

from epsilometer.job import job

with job(snakemake) as progress:
    from epsilometer.classifying import verdicts_of
    from epsilometer.storage import write_table

    spec = snakemake.params.spec
    verdicts = verdicts_of(snakemake.input.samples, spec, progress)
    write_table(verdicts, snakemake.output[0], "verdicts", spec)
