"""kutta2022: its tables, figures, exact values, proofs and draws."""
