"""kutta2022: its tables, figures, statements, exact values, proofs and draws."""
