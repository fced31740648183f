"""A verdict as a page, as JUnit XML, and in files.

It may import `question` and the layers below; not `explain`. `cli` and the workflow import it.
"""
