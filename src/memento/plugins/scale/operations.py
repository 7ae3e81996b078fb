"""The operation of several nodes: test whether an endpoint can store a memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Operation, Right, Text

if TYPE_CHECKING:
    from memento.plugins.scale import nouns

GROUP = "admin"
NOUNS = "memento.plugins.scale.nouns"


class ProbeStore(Operation["nouns.Probed"], frozen=True):
    """
    Test whether a SPARQL endpoint can store a memory: what Memento needs, whether the endpoint has it, and the request that shows
    it.

    The test takes about 10 s. It writes only to graphs below `urn:memento:probe:`, which it removes at the end. If the endpoint
    cannot be reached, the answer has no findings.

    Raises:
        InputError: an invalid address.
        Forbidden: the caller is not a program of the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/store/probe"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "it concerns another store"}

    query_url: Annotated[Text, Meta(description="address for queries, such as http://127.0.0.1:7878/query")]
    update_url: Annotated[Text, Meta(description="address for updates, such as http://127.0.0.1:7878/update")]
    token: Annotated[str, Meta(description="sent to both as a bearer token")] | None = None
    quick: Annotated[
        bool, Meta(description="only test, in a second, what would lose memories or show them to others")
    ] = False
