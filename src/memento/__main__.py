"""`python -m memento`."""

from memento.interfaces.cli import main

main()
