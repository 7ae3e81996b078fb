"""The interfaces through which people and programs use a memory: HTTP, MCP, the command line, notebooks."""
