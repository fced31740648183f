"""A survey whose answers are flipped at random, with a bound and a report of its own."""
