"""Files of audits: grids of mechanisms, parameters, pairs and claims, with one alpha."""
