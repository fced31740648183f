"""Make an environment for audits; where it cannot be made, that is the answer."""

from pathlib import Path

from epsilometer_workflow.runtime.job import job


def stopped(cause):
    """Write why there is none."""
    from epsilometer_workflow.stages import environment

    environment.write_failure(snakemake.output[0], cause)


with job(snakemake, stopped) as progress:
    from epsilometer_workflow.stages import environment

    notes = Path(snakemake.log[0]).with_suffix(".stopped")
    environment.run(snakemake.output[0], snakemake.params.spec, notes, progress)
