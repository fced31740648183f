"""Commands of the Makefile on all results of a scale: plan, archive and verify, provenance.

It may import every folder of the workflow; none imports it.
"""
