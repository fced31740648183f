"""The command `epsilometer`: it parses options and prints; the library does the rest."""
