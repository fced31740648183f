"""Build one table, beside the paper's numbers, as CSV and Parquet."""

from epsilometer.job import job

with job(snakemake):
    from epsilometer.config import options_model
    from epsilometer.storage import atomic, read_table, write_table
    from epsilometer.summaries import beside_paper
    from epsilometer.tables import BUILDERS

    spec = snakemake.params.spec
    identity = spec["identity"]
    data = {}
    for experiment, path in zip(spec["data"], snakemake.input.summaries, strict=True):
        expected = identity | {"experiment": experiment}
        expected.pop("artifact")
        data[experiment] = read_table(path, "summary", expected)
    build = BUILDERS.load(spec["builder"])
    options = dict(options_model(build).model_validate(spec["options"]))
    where = f"config/papers/{identity['paper']}.yaml: artifacts.{identity['artifact']}"
    table = beside_paper(build(data, **options), spec["paper"], where)
    write_table(table, snakemake.output.parquet, "table", identity | {"caption": spec["caption"]})
    with atomic(snakemake.output.csv) as part:
        table.to_csv(part, index=False)
