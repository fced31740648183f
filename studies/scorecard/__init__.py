"""The scorecard: numbers that the papers print, beside ours."""
