"""Summarise the estimates of one experiment."""

from epsilometer.job import job

with job(snakemake):
    import pandas as pd

    from epsilometer.storage import read_table, write_table
    from epsilometer.summaries import summarise, with_truth

    spec = snakemake.params.spec
    parts = []
    for path, member in zip(snakemake.input.estimates, spec["members"], strict=True):
        estimates = read_table(path, "estimates", member["identity"])
        parts.append(summarise(with_truth(estimates, member), member["precision"]))
    summary = pd.concat(parts, ignore_index=True)
    write_table(summary, snakemake.output[0], "summary", spec["identity"])
