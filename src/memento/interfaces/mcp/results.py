"""What a tool has told, failed at, or must ask the user first, as the protocol has it."""

from __future__ import annotations

from typing import Any

import mcp.types as mcp
from mcp.server.context import ServerRequestContext

from memento.interfaces.mcp import catalogue
from memento.interfaces.mcp.tools import Told, structured, text_of

Context = ServerRequestContext[Any, Any]

QUESTION = "confirmation"
"""The name by which the user's answer comes back."""


def result(told: Told) -> mcp.CallToolResult:
    return mcp.CallToolResult(
        content=[mcp.TextContent(type="text", text=text_of(told))], structured_content=structured(told.answer)
    )


def failed(message: str) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(type="text", text=message)], is_error=True)


def can_ask(context: Context) -> bool:
    """Whether the client shows questions to its user, and the revision lets a stateless server put one."""
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    shows_forms = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
    return shows_forms and context.protocol_version in catalogue.MODERN


def asked(question: str) -> mcp.InputRequiredResult:
    form = mcp.ElicitRequestFormParams(message=question, requested_schema={"type": "object", "properties": {}})
    return mcp.InputRequiredResult(input_requests={QUESTION: mcp.ElicitRequest(params=form)})
