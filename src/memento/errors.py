"""
Every way in which Memento can fail.

    MementoError
    ├── SettingsError            unknown or malformed setting; the message names it and the choices
    ├── InputError               the caller's fault                              HTTP 400
    │   ├── NotFound             no such IRI                                     404
    │   ├── Conflict             an idempotency key reused for another note      409
    │   ├── NotAcceptable        the client accepts no offered media type        406
    │   ├── TooLong              more text than a note or a question may have    413
    │   ├── Unauthorised         no token, or an unknown one                     401
    │   ├── Forbidden            what this caller may not do                     403
    │   ├── Busy                 too many queries wait                           429
    │   └── ShapeViolation       data that breaks a SHACL shape                  422
    ├── BackendError             something outside failed                        503
    │   ├── GraphError           the store; carries the query file when there is one
    │   │   ├── Damaged          its files cannot be read
    │   │   ├── StoreAway        nothing answers at the address of its endpoint; nothing was sent
    │   │   ├── Unanswered       an endpoint did not confirm whether it wrote
    │   │   ├── LostTurn         another node wrote first; nothing was written
    │   │   └── Moved            the tenant is in another store now; nothing was written
    │   ├── Overloaded           too many requests run or wait; nothing was done, and the request can be retried
    │   ├── ReadOnly             a write while a backup stands in for a damaged store
    │   ├── TimedOut             a query that took longer than allowed           504
    │   ├── TooMuch              a query that took more memory, rows or bytes than allowed
    │   ├── EmbeddingError       the embedder
    │   ├── EngineError          the engine that holds the index outside of the process
    │   ├── ModelError           the language model
    │   ├── ToolError            a configured tool server cannot be used
    │   └── Unreachable          no service answers where one should
    ├── FolderInUse              another process owns the data folder            409
    ├── StaleIndex               an index does not match the graph; it is rebuilt then
    └── MissingPart              something that must be installed is not; the message says how to get it

`status` is the HTTP status of an answer; `code` is the stable name that is sent with the message.
"""

from __future__ import annotations

from typing import ClassVar


class MementoError(Exception):
    """The root: catching it catches everything Memento raises on purpose."""

    status: ClassVar[int] = 500

    @property
    def code(self) -> str:
        """The class name in the words of a JSON field: `NotFound` → `not_found`."""
        name = type(self).__name__
        return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


class SettingsError(MementoError):
    """A setting is unknown or malformed; the message names it and what would be right."""

    status = 400


class InputError(MementoError):
    """The caller asked for something that cannot be; the message names the input and the fix."""

    status = 400


class NotFound(InputError):
    """Nothing with that IRI in the graphs the caller may read."""

    status = 404


class Conflict(InputError):
    """An idempotency key came back with different content."""

    status = 409


class NotAcceptable(InputError):
    """None of the media types that the caller wants can be had; the message lists those that can."""

    status = 406


class TooLong(InputError):
    """More text than the limit allows; nothing was stored."""

    status = 413


class Unauthorised(InputError):
    """A token is needed, or the one that came is not known here."""

    status = 401


class Forbidden(InputError):
    """What this caller may not do, or a query that would change data or reach out of the store."""

    status = 403


class Busy(InputError):
    """All workers are taken and the queue is full, or the wait was too long; `retry_after_s` is when to ask again."""

    status = 429

    def __init__(self, message: str, retry_after_s: int = 1) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ShapeViolation(InputError):
    """Data that breaks a SHACL shape; `report` is the validation report as text."""

    status = 422

    def __init__(self, message: str, report: str = "") -> None:
        super().__init__(message)
        self.report = report


class WrongGraph(InputError):
    """A patch of one graph that would change another one; nothing was written."""

    status = 422


class BackendError(MementoError):
    """Something outside failed; trying again later may help."""

    status = 503


class GraphError(BackendError):
    """The store refused a query or a write."""


class Damaged(GraphError):
    """The files of the store are not all there, not as they were written, or of a version that this one cannot read."""


class StoreAway(GraphError):
    """Nobody answers at the address of the endpoint; nothing was sent. `retry_after_s` is when to ask again."""

    retry_after_s: ClassVar[int] = 5


class Unanswered(GraphError):
    """The endpoint of the store was sent something and did not answer: whether it was done is not known yet."""


class LostTurn(GraphError):
    """Another node has written since, or has taken the turn to write; nothing was written, and the same may be asked again."""


class Moved(GraphError):
    """The memory of the tenant is in another store now, or on its way; nothing was written, and the same may be asked again."""


class Overloaded(BackendError):
    """More is under way or waits than may: the message says what. Nothing was done; `retry_after_s` is when to ask again."""

    def __init__(self, message: str, retry_after_s: int = 1) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ReadOnly(BackendError):
    """Nothing is written while a backup stands in for the store; the message says how to get out of that."""


class TimedOut(BackendError):
    """A query took longer than it may; the message names the limit."""

    status = 504


class TooMuch(BackendError):
    """A query took more memory, rows or bytes than it may; the message names the limit."""


class EmbeddingError(BackendError):
    """The embedder failed or was given empty text."""


class EngineError(BackendError):
    """The engine that holds the index failed, cannot be reached, or holds vectors of another embedder."""


class ModelError(BackendError):
    """
    The language model did not answer, or not as it was asked to; the message names provider and model, never a key.

    `tokens_in` and `tokens_out` are what was spent on it all the same.
    """

    def __init__(self, message: str, *, tokens_in: int = 0, tokens_out: int = 0) -> None:
        super().__init__(message)
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out


class ToolError(BackendError):
    """A configured server of tools cannot be started or reached, or does not list its tools; the message names it."""


class Unreachable(BackendError):
    """A running service was expected at an address and did not answer."""


class FolderInUse(MementoError):
    """Another process owns the data folder; the message names it."""

    status = 409


class StaleIndex(MementoError):
    """A derived index was made by another embedder or from other data; a rebuild mends it."""


class MissingPart(MementoError):
    """A package or a model that this needs is not installed; the message says how to get it."""

    status = 501
