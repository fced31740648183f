"""The benchmark: implementations of a task beside each other."""
