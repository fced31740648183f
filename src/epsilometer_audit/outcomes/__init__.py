"""Outputs of any type as columns of numbers, with readable names.

It may import `serving`, `verdict`, `formats` and `events`; `statistics` and `sources` import it.
"""
