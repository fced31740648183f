"""The jobs: a module for each rule, with the same name; it reads files and writes one.

It may import `reports`, `runtime` and `files`; `products` and `configuration` may import it.
"""
