"""Show every table and figure of one paper on one page."""

from epsilometer.job import job

with job(snakemake):
    from epsilometer.page import write_page

    write_page(snakemake.output[0], snakemake.input.template, snakemake.params.spec)
