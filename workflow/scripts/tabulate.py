"""Build one table, beside the paper's numbers, as CSV and Parquet."""

from epsilometer_workflow.runtime.job import job

with job(snakemake):
    from epsilometer_workflow.stages import tabulate

    output = snakemake.output
    tabulate.run(snakemake.input.get("data", []), output.csv, output.parquet, snakemake.params.spec)
