"""
Language models and tools, each behind a connection that is opened at the first use.

*Flow:* `chat` asks a model to fill in a form through an `endpoint`; `tools` calls the tools of MCP servers; `prompts/` has what
models are told.
"""
