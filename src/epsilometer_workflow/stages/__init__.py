"""The jobs: a module for each rule, with the same name; it reads files and writes one.

It may import `reports` and `files`; `products`, `configuration` and `runtime` may import it.
"""
