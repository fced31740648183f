"""Projections of two distributions onto those that satisfy a claim; they see arrays only."""
