"""Audits of one run with canaries: a verdict from the number of right guesses."""
