"""
The MCP interface: seven tools by default and more by group, resources and prompts, over Streamable HTTP and over stdio.

*Flow:* `catalogue` (the lists, as plain JSON) ← `tools`, `core_tools`, `group_tools`, `resources`. `server` serves them at `/mcp`
with the official SDK. `shim` is the stdio server, which answers lists itself and forwards every other request to `/mcp`.

*Because:* importing the SDK takes two thirds of a second. Every window of a client starts a shim, so the shim does not use the
SDK. Tools are declared with msgspec, which also reads JSON elsewhere, and both servers return the same lists.
"""
