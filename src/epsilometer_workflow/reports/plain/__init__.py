"""Tables and a figure for any report: estimates beside the exact values, as they are."""
