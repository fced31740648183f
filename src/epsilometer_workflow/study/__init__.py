"""The configuration, checked, and the products that follow from it: needs, cost, code."""
