"""A verdict as a page, as JUnit XML, and in files.

It may import `question` and the layers below. `grids` and `cli` import it.
"""
