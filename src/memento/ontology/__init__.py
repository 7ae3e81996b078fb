"""The vocabulary as people and other programs read it."""
