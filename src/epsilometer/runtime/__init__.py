"""What keeps jobs and runs: watched, told in one line, alone in their folder."""
