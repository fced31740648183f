"""Files of audits: a list of cases, in YAML, with one alpha."""
