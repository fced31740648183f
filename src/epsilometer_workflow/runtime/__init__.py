"""Starts and watches jobs: server, clusters, logs, one-line errors, locks, provenance.

It may import `files` only; `stages`, `products` and the Snakefile import it.
"""
