"""Build one table, beside the paper's numbers, as CSV and Parquet."""

from epsilometer.runtime.job import job

with job(snakemake):
    from epsilometer.stages import tabulate

    made = snakemake.output
    tabulate.run(snakemake.input.get("data", []), made.csv, made.parquet, snakemake.params.spec)
