"""Starts and watches jobs: server, clusters, logs, one-line errors, locks, provenance.

It may import `stages` and the layers below, not `configuration`; `products` may import it.
"""
