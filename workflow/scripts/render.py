"""Draw one figure from its table."""

from epsilometer.job import job

with job(snakemake):
    from epsilometer.registry import load
    from epsilometer.render import style
    from epsilometer.storage import read_table

    spec = snakemake.params.spec
    table = read_table(snakemake.input.table, "table", spec["identity"])
    figure = load(spec["renderer"])(table)
    style.save(figure, snakemake.output.pdf, spec["caption"])
