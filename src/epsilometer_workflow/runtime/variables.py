"""Variables of the environment by which a run and its jobs know each other."""

RUN = "EPSILOMETER_RUN"  # the process of the Snakemake that started a job
SERVER = "EPSILOMETER_FORKSERVER"  # whose server it is, of which environment, and its socket
