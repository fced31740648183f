"""kutta2022: its tables and figures."""
