"""The code that the Snakemake workflow runs; it is not installed with the library.

It imports `epsilometer`, which never imports it. Its layers: `products`; `configuration`;
`stages`; `reports`; `runtime`; `files`. Each may import those that follow it.
"""
