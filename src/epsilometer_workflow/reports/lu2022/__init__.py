"""lu2022: its tables, figures, exact values, bounds and draws."""
