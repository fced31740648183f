"""Draw one figure from its table."""

from epsilometer.job import job

with job(snakemake):
    from epsilometer.render import RENDERERS, style
    from epsilometer.storage import read_table

    spec = snakemake.params.spec
    table = read_table(snakemake.input.table, "table", spec["identity"])
    figure = RENDERERS.load(spec["renderer"])(table)
    style.save(figure, snakemake.output.pdf, spec["caption"])
