"""Commands of the Makefile on all results of a scale: archive and verify.

It may import every folder of the workflow; none imports it.
"""
