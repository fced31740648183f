"""lu2022: its tables, figures, statements, exact values, bounds and draws."""
