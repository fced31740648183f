"""Measure implementations of one task of the benchmark, one after another, on the same data."""

from epsilometer_workflow.runtime.job import job

with job(snakemake) as progress:
    from epsilometer_workflow.stages import measure

    (environment,) = snakemake.input.get("environment", [None])
    measure.run(snakemake.output[0], snakemake.params.spec, environment, progress)
