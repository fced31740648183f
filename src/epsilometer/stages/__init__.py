"""What jobs do: a module a rule, with the same name; files in, one file out."""
