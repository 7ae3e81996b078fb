"""`python -m memento`."""

from memento.cli import main

main()
