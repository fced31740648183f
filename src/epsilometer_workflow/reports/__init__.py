"""Reports: a folder for each, with the code of its tables and figures.

- `tables`: builders, which turn summaries and options into the rows of one artifact. The table
  behind a figure is built here, too: figures draw nothing that is not in a table.
- `figures`: renderers, each of which draws one figure from the rows of its table.
- `statements`: how each statement of a paper is decided, from these tables.
- other modules: formulas and samples for tables of the scorecard.
"""
