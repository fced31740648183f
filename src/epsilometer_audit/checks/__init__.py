"""Checks before an audit: independent draws that follow the seed, and the accepted pairs."""
