"""askin2022: its tables, figures, statements, exact values and draws."""
