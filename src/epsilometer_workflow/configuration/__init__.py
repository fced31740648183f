"""The YAML files of `config/`, checked, and the names and paths that follow from them."""
