"""Audit all claims about one mechanism on a set of pairs; where it breaks the job, that is said."""

from epsilometer_workflow.runtime.job import job


def stopped(cause):
    """Write why there is no verdict."""
    from epsilometer_workflow.stages import audit

    audit.write_failure(*snakemake.output, params.spec, params.made_of, cause)


params = snakemake.params
with job(snakemake, stopped) as progress:
    from epsilometer_workflow.stages import audit

    case = params.spec, params.made_of, params.folder, params.replay
    environment = snakemake.input.get("environment", [None])[0]
    audit.run(*snakemake.output, *case, progress, environment)
