"""
The service of one data folder: a context, and one function for each operation.

*Flow:* `open` → `context` (what every handler needs, and which function answers which operation) → `handlers/`.

*Guarantees:* a note is written completely or not at all. When a call returns, its write survives a crash of the process, and the
next recall finds it. Handlers may be called from many threads; writes run one after the other.
"""

from memento.service import handlers
from memento.service.context import HANDLERS, Context, Service, describe_unknown, handle
from memento.service.open import close_service, open_service, restore_folder, serve_at, warm_up

__all__ = [
    "HANDLERS",
    "Context",
    "Service",
    "close_service",
    "describe_unknown",
    "handle",
    "handlers",
    "open_service",
    "restore_folder",
    "serve_at",
    "warm_up",
]
