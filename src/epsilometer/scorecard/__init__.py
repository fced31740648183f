"""What papers state, held against the tables of the project: claims, rules, and how one decides."""
