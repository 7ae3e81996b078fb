"""
Every way in which Memento can fail.

    MementoError
    ├── SettingsError            unknown or malformed setting; the message names it and the choices
    ├── InputError               the caller's fault                              HTTP 400
    │   ├── NotFound             no such IRI                                     404
    │   │   └── NotAnIri         neither an IRI nor the end of one               400
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
    │   │   ├── DiskFull         the disk of a folder has no room left; the message names the folder
    │   │   ├── StoreAway        nothing answers at the address of its endpoint; nothing was sent
    │   │   ├── Unanswered       an endpoint did not confirm whether it wrote
    │   │   └── LostTurn         another node wrote first; nothing was written
    │   ├── Overloaded           too many requests run or wait; nothing was done, and the request can be retried
    │   ├── ReadOnly             a write while a backup is read in place of a damaged store
    │   ├── TimedOut             a query that took longer than allowed           504
    │   ├── TooMuch              a query that took more memory, rows or bytes than allowed
    │   ├── EmbeddingError       the embedder
    │   ├── EngineError          the engine that holds the index outside of the process
    │   ├── ModelError           the language model
    │   ├── ToolError            a configured tool server cannot be used
    │   └── Unreachable          no service answers where one should
    ├── FolderInUse              another process owns the data folder            409
    ├── StaleIndex               an index does not match the graph; it is rebuilt then
    ├── MissingPart              something that must be installed is not; the message says how to get it
    └── PluginError              a plug-in cannot be used, or two use one name

`status` is the HTTP status of an answer; `code` is the stable name that is sent with the message.
"""

from __future__ import annotations

from errno import EDQUOT, EFBIG, ENOSPC
from typing import ClassVar


class MementoError(Exception):
    """The base class: catching it catches every error that Memento raises on purpose."""

    status: ClassVar[int] = 500

    @property
    def code(self) -> str:
        """The class name in snake case, for JSON: `NotFound` → `not_found`."""
        name = type(self).__name__
        return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


class SettingsError(MementoError):
    """A setting is unknown or malformed; the message names it and the valid choices."""

    status = 400


class InputError(MementoError):
    """The request is invalid; the message names the input and the fix."""

    status = 400


class NotFound(InputError):
    """No node with that IRI is in the graphs that the caller may read."""

    status = 404


class NotAnIri(NotFound):
    """An argument that should name a node is neither an IRI nor the end of one."""

    status = 400


class Conflict(InputError):
    """An idempotency key was reused with different content."""

    status = 409


class NotAcceptable(InputError):
    """None of the media types that the client accepts is available; the message lists those that are."""

    status = 406


class TooLong(InputError):
    """More text than the limit allows; nothing was stored."""

    status = 413


class Unauthorised(InputError):
    """A token is needed and missing, or it is unknown."""

    status = 401


class Forbidden(InputError):
    """The caller lacks a right, or a query would change data or reach outside the store."""

    status = 403


class Busy(InputError):
    """All workers are busy and the queue is full, or the wait was too long; `retry_after_s` is when to retry."""

    status = 429

    def __init__(self, message: str, retry_after_s: int = 1) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ShapeViolation(InputError):
    """Data that violates a SHACL shape; `report` is the validation report as text."""

    status = 422

    def __init__(self, message: str, report: str = "") -> None:
        super().__init__(message)
        self.report = report


class WrongGraph(InputError):
    """A patch of one graph that would change another one; nothing was written."""

    status = 422


class BackendError(MementoError):
    """An external component failed; retrying later may help."""

    status = 503


class GraphError(BackendError):
    """The store refused a query or a write."""


class Damaged(GraphError):
    """The files of the store are incomplete, corrupted, or of a version that this one cannot read."""


class DiskFull(GraphError):
    """A disk has no room for what was to be written: the message names the folder. Writing continues once there is room."""

    errors: ClassVar[frozenset[int]] = frozenset([ENOSPC, EDQUOT, EFBIG])
    """The numbers of the system errors that mean this."""

    def __init__(self, folder: object) -> None:
        super().__init__(f"there is no room left on the disk of {folder}: make room, then try again; nothing is lost")


class StoreAway(GraphError):
    """Nothing answers at the address of the endpoint; nothing was sent. `retry_after_s` is when to retry."""

    retry_after_s: ClassVar[int] = 5


class Unanswered(GraphError):
    """The endpoint of the store received a request and did not answer: it is unknown whether the request was executed."""


class LostTurn(GraphError):
    """Another node has written since; nothing was written, and the request can be retried."""


class Overloaded(BackendError):
    """Too many requests run or wait: the message says which. Nothing was done; `retry_after_s` is when to retry."""

    def __init__(self, message: str, retry_after_s: int = 1) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ReadOnly(BackendError):
    """Nothing can be written while a backup is read in place of the store; the message says how to end that."""


class TimedOut(BackendError):
    """A query exceeded its time limit; the message names the limit."""

    status = 504


class TooMuch(BackendError):
    """A query exceeded its limit of memory, rows or bytes; the message names the limit."""


class EmbeddingError(BackendError):
    """The embedder failed or was given empty text."""


class EngineError(BackendError):
    """The engine that holds the index failed, cannot be reached, or holds vectors of another embedder."""


class ModelError(BackendError):
    """
    The language model did not answer, or not in the required form; the message names provider and model, never a key.

    `tokens_in` and `tokens_out` are the tokens that were spent all the same.
    """

    def __init__(self, message: str, *, tokens_in: int = 0, tokens_out: int = 0) -> None:
        super().__init__(message)
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out


class ToolError(BackendError):
    """A configured tool server cannot be started or reached, or does not list its tools; the message names it."""


class Unreachable(BackendError):
    """A running service was expected at an address and did not answer."""


class FolderInUse(MementoError):
    """Another process owns the data folder; the message names it."""

    status = 409


class StaleIndex(MementoError):
    """A derived index was made by another embedder or from other data; a rebuild repairs it."""


class MissingPart(MementoError):
    """A required package or model is not installed; the message says how to get it."""

    status = 501


class PluginError(MementoError):
    """A plug-in cannot be used, or two use one name; the message names them."""
