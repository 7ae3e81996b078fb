"""Who asks, and what they may do."""

from memento.access.admission import Caller, admitted, is_loopback
from memento.access.tokens import OWNER, RIGHTS, Access, Issued, Right, Tokens, bearer, right_called

__all__ = [
    "OWNER",
    "RIGHTS",
    "Access",
    "Caller",
    "Issued",
    "Right",
    "Tokens",
    "admitted",
    "bearer",
    "is_loopback",
    "right_called",
]
