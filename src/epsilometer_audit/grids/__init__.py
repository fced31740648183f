"""Files of audits: grids of mechanisms, parameters, pairs and claims, with one alpha.

It needs pydantic and PyYAML, the extra ``audits``; `verdicts`, which the jobs of the workflow
import, needs neither. `cli` and the workflow import it.
"""
