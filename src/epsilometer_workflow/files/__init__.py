"""Files of the workflow: how they are written and read, and the types of what users write."""
