"""Environment variables that connect a run and its jobs."""

RUN = "EPSILOMETER_RUN"  # the process of the Snakemake that started a job
SERVER = "EPSILOMETER_FORKSERVER"  # the run of the server, its environment, and its socket
