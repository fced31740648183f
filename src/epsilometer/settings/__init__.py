"""Settings: the files and names that users write, read safely, checked, with the nearest name."""
