"""Museum and census: environments of released packages, and the table and page of their audits."""
