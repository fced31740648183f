"""Build one table, beside the paper's numbers, as CSV and Parquet."""

from epsilometer.job import job

with job(snakemake):
    from epsilometer.registry import load
    from epsilometer.storage import atomic, write_table
    from epsilometer.summaries import beside_paper
    from epsilometer.tables.building import build, read

    spec = snakemake.params.spec
    identity = spec["identity"]
    data = read(snakemake.input.data, spec["data"], load(spec["builder"]))
    where = f"artifacts.{identity['artifact']}"
    file = f"config/papers/{identity['paper']}.yaml"
    table = build(load(spec["builder"]), data, spec["options"], file, where)
    table = beside_paper(table, spec["paper"], file, where)
    write_table(table, snakemake.output.parquet, "table", identity | {"caption": spec["caption"]})
    with atomic(snakemake.output.csv) as part:
        table.to_csv(part, index=False)
