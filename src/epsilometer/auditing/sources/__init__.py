"""Sources of outputs: Python functions, other processes, recorded files. Accountants."""
