"""A verdict as a page, as JUnit's XML, and in files."""
