"""Checks of a mechanism before an audit: whether draws are independent and follow the seed."""
