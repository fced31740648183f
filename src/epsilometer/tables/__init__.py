"""Tables: each builder turns summaries and options into the rows of one artifact.

The builders of a report are the public functions of the module that bears its name; the table
behind a figure is built here too, so that figures draw nothing that is not in a table. To add one:
a function, and an artifact in the report's configuration that names it.
"""

from epsilometer.registry import Modules

BUILDERS = Modules("table builder", "epsilometer.tables")
