"""Reduce one batch of fresh samples to what they say about the selected pairs."""

from epsilometer.job import job

with job(snakemake):
    from epsilometer.storage import write_table
    from epsilometer.weighing import evidence_of

    spec = snakemake.params.spec
    evidence = evidence_of(snakemake.input.samples, snakemake.input.losses, spec)
    write_table(evidence, snakemake.output[0], "evidence", spec)
