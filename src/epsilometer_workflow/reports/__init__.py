"""Reports: a folder for each, with its tables and figures.

`tables` builds the rows of a table, also of the table behind each figure; `figures` draws from
these rows only; other modules compute for tables. It may import `files`; `stages` and the layers
above may import it.
"""
