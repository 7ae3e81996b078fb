"""
The interface for MCP clients: eight tools at most, resources and prompts, over Streamable HTTP and over stdio.

*Flow:* `catalogue` (what there is, as plain JSON) ← `tools`, `core_tools`, `group_tools`, `resources`; `server` serves it at
`/mcp` by the official SDK; `shim` is the stdio end, which answers lists itself and sends the rest to `/mcp`.

*Because:* the SDK takes two thirds of a second to import, so the shim, which every window of a client starts anew, does without
it: tools are declared with the same library that reads JSON elsewhere, and both ends print the same lists.
"""
