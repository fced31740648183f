"""Count one batch of samples."""

from epsilometer.job import job

with job(snakemake) as progress:
    from epsilometer.counting import count_file
    from epsilometer.storage import write_counts

    spec = snakemake.params.spec
    rows = count_file(snakemake.input.samples, spec, progress)
    write_counts(rows, snakemake.output[0], spec["cells"], spec)
