"""Audits: a verdict on a claim, from outputs that are drawn or recorded.

`audit` and `one_run` are the entry points; `question` checks their arguments; `drawing` and
`budgets` draw; `answer` makes the `verdict`; `estimates` adds results of the papers' methods.
Each folder imports only folders below it: `explain` and `rendering`, `inputs`, `checks`,
`statistics` and `sources`, `outcomes`, `serving`. ``pyproject.toml`` has the contract.
"""
