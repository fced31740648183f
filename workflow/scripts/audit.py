"""Say what draws tell about one claim; where that breaks the job, that is the answer."""

from epsilometer.runtime.job import job


def stopped(cause):
    """Write why there is no answer."""
    from epsilometer.stages import audit

    audit.write_failure(*snakemake.output, snakemake.params.spec, cause)


with job(snakemake, stopped) as progress:
    from epsilometer.stages import audit

    told = snakemake.params.spec, snakemake.params.replay
    audit.run(snakemake.input.draws[0], *snakemake.output, *told, progress)
