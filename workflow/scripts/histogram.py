"""Count one batch of samples."""

from epsilometer.runtime.job import job

with job(snakemake) as progress:
    from epsilometer.stages import histogram

    histogram.run(snakemake.input.samples[0], snakemake.output[0], snakemake.params.spec, progress)
