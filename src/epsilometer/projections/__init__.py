"""Projections of two laws onto the laws that satisfy a claim; they see arrays only."""
