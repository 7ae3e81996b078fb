"""How people and programs reach a memory: HTTP, MCP, the command line, notebooks."""
