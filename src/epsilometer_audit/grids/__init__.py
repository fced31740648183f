"""Files of audits: grids of mechanisms, parameters, pairs and claims, with one alpha.

It needs pydantic and PyYAML, the extra ``audits``; `verdicts` needs neither. `cli` and studies
import it.
"""
