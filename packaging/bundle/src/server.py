"""What a client of the bundle starts: `memento mcp`."""

from memento.interfaces.cli import main

main(["mcp"])
