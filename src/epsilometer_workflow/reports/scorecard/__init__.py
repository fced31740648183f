"""The scorecard: statements of the papers, compared with the tables of the project."""
