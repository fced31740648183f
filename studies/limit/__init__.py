"""The limit: the draws and bounds of audits, beside the least and the most that can be."""
