"""Audits: a verdict on a claim, from outputs that are drawn or recorded.

`audit` and `one_run` are the entry points. The layers are listed in ``pyproject.toml``. It may
import `estimators`, `events` and the layers below them; `cli` and `pytest_plugin` may import it.
"""
