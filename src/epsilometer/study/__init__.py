"""What the configuration asks for: checked, as products with all that they need, and its cost."""
