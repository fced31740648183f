"""The code that the Snakemake workflow runs; it is not installed with the library.

- `configuration`: reads and checks the YAML files; names and paths.
- `products`: every file that there is to make, with its needs, cost and code.
- `runtime`: keeps a job within its limits; computes nothing.
- `stages`: what runs in jobs, a module for each rule.
- `reports`: the tables and figures of each report, and how statements of papers are decided.
- `files`: how files are written and read, and the types of what users write in them.

It imports `epsilometer`, which never imports it.
"""
