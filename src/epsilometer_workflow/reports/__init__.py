"""Reports: a folder for each, with its tables, figures and statements.

`tables` builds the rows of a table, also of the table behind each figure; `figures` draws from
these rows only; `statements` decides a paper's statements from tables; other modules compute for
tables. It may import `files`; `stages` and the layers above may import it.
"""
