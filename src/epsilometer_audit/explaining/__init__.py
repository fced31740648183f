"""The cause of a violation: draws on both inputs with the same noise are compared call by call."""
