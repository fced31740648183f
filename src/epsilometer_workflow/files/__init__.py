"""Files of the workflow: how they are written and read, and the types of what users write.

It may import the library only; all other folders of the workflow may import it.
"""
