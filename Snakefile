# epsilometer: from a configuration to the tables and figures of its reports.
#
#   snakemake --cores 2                          every report of config/reports/
#   snakemake --cores 2 gorla2022                one report
#   snakemake --cores 2 --config scale=paper     with the papers' sample sizes
#   snakemake --cores 2 results/quick/...        one file, by its path

# Other repositories deploy it: docs/deploy.md. `include:` would keep the default target of this file,
# which has none.

workflow.include("workflow/main.smk", overwrite_default_target=True)
