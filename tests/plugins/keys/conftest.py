"""The memory and the service that all tests of tools share."""

from interfaces.mcp.conftest import address, memory

__all__ = ["address", "memory"]
