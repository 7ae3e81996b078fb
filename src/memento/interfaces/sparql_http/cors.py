"""
Which pages of other origins may query from a browser.

*Guarantees:* none, as long as `sparql.origins` is empty. A page that it names reads an answer only when the request brought a token
of ours: a browser sends one only when the page has it. So no page reads the memory of this machine because it happens to be open
in a browser here, where programs need no token; `*` opens the endpoint to tools anywhere, and to their users' tokens alone.

*But:* a page that may read nothing can still make a browser that does not say so (`Sec-Fetch-Site`) send a simple request, which
costs a worker for a moment. Nothing is changed by one: writing takes a token or an origin of this machine (`access`).
"""

from __future__ import annotations

from collections.abc import Collection

from flask import Response, request

from memento.access import Caller

ASKED = "Authorization, X-Memento-Token, Memento-Namespace, Content-Type, Accept"
KEPT_S = "600"


def origins(listed: str) -> frozenset[str]:
    """
    The origins of a setting.

    >>> sorted(origins("https://yasgui.org/, https://example.org,"))
    ['https://example.org', 'https://yasgui.org']
    """
    return frozenset(one.strip().rstrip("/") for one in listed.split(",") if one.strip())


class Cors:
    """What one endpoint tells browsers."""

    def __init__(self, listed: str, methods: Collection[str], *, needs_token: bool = True) -> None:
        """
        Args:
            listed: as the setting `sparql.origins`.
            methods: what the endpoint answers.
            needs_token: whether an answer is for pages with a token alone; not so where nobody needs one.
        """
        self._origins = origins(listed)
        self._methods = ", ".join(sorted(methods))
        self._needs_token = needs_token

    def preflight(self) -> Response:
        """The answer to OPTIONS: what a page may send, when it may send anything."""
        response = Response(status=204, headers={"Allow": self._methods})
        if request.headers.get("Access-Control-Request-Method") and self._knows(self._origin):
            response.headers["Access-Control-Allow-Origin"] = self._origin
            response.headers["Access-Control-Allow-Methods"] = self._methods
            response.headers["Access-Control-Allow-Headers"] = ASKED
            response.headers["Access-Control-Max-Age"] = KEPT_S
        response.headers["Vary"] = "Origin, Access-Control-Request-Method"
        return response

    def told(self, response: Response) -> Response:
        """An answer, with the leave to read it for a page that has it."""
        if self._knows(self._origin) and (not self._needs_token or _has_token()):
            response.headers["Access-Control-Allow-Origin"] = self._origin
            response.headers["Access-Control-Expose-Headers"] = "Retry-After"
        return response

    @property
    def _origin(self) -> str:
        return request.headers.get("Origin", "")

    def _knows(self, origin: str) -> bool:
        return bool(origin) and (origin in self._origins or "*" in self._origins)


def _has_token() -> bool:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Caller(address="", method="", headers=headers).token is not None
