"""The files that the workflow makes: for each its path, needs, cost and code."""
