"""gorla2022: its tables, figures, exact values and draws."""
