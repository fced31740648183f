"""Starts and watches jobs: server, clusters, limits, logs, one-line errors, locks, provenance."""
