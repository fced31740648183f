"""The benchmark: epsilometer and other tools on the same tasks."""
