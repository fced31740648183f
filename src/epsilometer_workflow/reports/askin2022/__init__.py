"""askin2022: its tables and figures."""
