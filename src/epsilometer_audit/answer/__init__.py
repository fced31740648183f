"""The answer: the verdict, with its bound and witness, in words and as JSON."""
