"""Watches jobs and runs: limits, logs, errors in one line, the lock of a folder."""
