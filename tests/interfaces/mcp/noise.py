"""The shim of a data folder, in a process where everybody prints to standard output all the time."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import warnings

from memento.interfaces.cli import main
from memento.interfaces.mcp import shim

_read = shim.Shim._read_message


def noisy(self: shim.Shim, line: bytes) -> object:
    """A message is read, and a library chats meanwhile."""
    print("print: not JSON")  # noqa: T201
    os.write(1, b"os.write: not JSON\n")
    subprocess.run([sys.executable, "-c", "print('a child: not JSON')"], check=True)
    logging.getLogger("noise").error("logging: not JSON")
    warnings.warn("warnings: not JSON", stacklevel=1)
    threading.Thread(target=print, args=("a thread: not JSON",)).start()
    return _read(self, line)


if __name__ == "__main__":
    shim.Shim._read_message = noisy  # type: ignore[method-assign, assignment]  # noise between any two messages
    main(["mcp"])
