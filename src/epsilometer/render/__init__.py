"""Renderers: each draws one figure from the rows of its table.

The renderers of a report are the public functions of the module that bears its name. To add one: a
function, and an artifact in the report's configuration that names it as its figure.
"""

from epsilometer.registry import Modules

RENDERERS = Modules("renderer", "epsilometer.render")
