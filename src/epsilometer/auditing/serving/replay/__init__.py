"""One draw with recorded noise. It patches private parts of other libraries: kept apart."""
