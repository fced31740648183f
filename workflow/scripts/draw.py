"""Draw for the audits of one mechanism; where it breaks the job, that is the answer."""

from epsilometer.runtime.job import job


def stopped(cause):
    """Write why there is no answer."""
    from epsilometer.stages import draw

    draw.write_failure(snakemake.output[0], *told, cause)


told = snakemake.params.spec, snakemake.params.made_of
with job(snakemake, stopped) as progress:
    from epsilometer.stages import draw

    folder, environment = snakemake.params.folder, snakemake.input.get("environment", [None])
    draw.run(snakemake.output[0], *told, folder, progress, environment[0])
