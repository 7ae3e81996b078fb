"""The shim of a data folder that waits ten minutes, when its client leaves, for answers that are still to come."""

from __future__ import annotations

from memento.interfaces.cli import main
from memento.interfaces.mcp import shim

if __name__ == "__main__":
    shim.FAREWELL_S = 600.0
    main(["mcp"])
