"""Collect the estimates of one experiment beside the exact values, and summarise them."""

from epsilometer.job import job

with job(snakemake):
    import pandas as pd

    from epsilometer.storage import read_table, write_table
    from epsilometer.summaries import summarise, with_truth

    spec = snakemake.params.spec
    parts, summaries = [], []
    for path, member in zip(snakemake.input.estimates, spec["members"], strict=True):
        estimates = read_table(path, "estimates", member["identity"])
        parts.append(with_truth(estimates, member))
        summaries.append(summarise(parts[-1], member["precision"]))
    for kind, frames in (("runs", parts), ("summary", summaries)):
        frame = pd.concat(frames, ignore_index=True)
        write_table(frame, snakemake.output[kind], kind, spec["identity"])
