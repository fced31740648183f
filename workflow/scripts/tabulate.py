"""Build one table, beside the paper's numbers, as CSV and Parquet."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import tabulate

    made = snakemake.output
    tabulate.run(snakemake.input.get("data", []), made.csv, made.parquet, snakemake.params.spec)
