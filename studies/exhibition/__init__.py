"""Museum and census: environments of released packages, and the table and page of their audits."""

LEFT_OUT = "left out"
"""The word, in place of a verdict, of a feature that is not audited."""
