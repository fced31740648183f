"""The YAML files of `config/`, checked, and the names and paths that follow from them.

It may import `stages`, `reports` and `files`; `products` and the Snakefile import it.
"""
