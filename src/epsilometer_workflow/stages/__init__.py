"""The jobs: a module for each rule, with the same name; it reads files and writes one."""
