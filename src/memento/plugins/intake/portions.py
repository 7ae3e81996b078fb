"""Ingest over HTTP portion by portion, so that a client can show how far it is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import structs

from memento.codec import decode
from memento.plugins.intake.nouns import Ingested
from memento.plugins.intake.operations import Ingest

if TYPE_CHECKING:
    from memento.ports import Progress
    from memento.python.client import Transport

DOCUMENTS = 25
"""Documents that an ingest reads per request."""


def ingest_in_portions(operation: Ingest, transport: Transport, progress: Progress | None) -> Ingested:
    """Ingest documents portion by portion; each request skips what was read before."""
    if operation.most is not None or operation.force or operation.dry_run:
        return decode(Ingested, transport.ask(operation))
    portion, done = structs.replace(operation, most=DOCUMENTS), Ingested()
    while True:
        some = decode(Ingested, transport.ask(portion))
        done = Ingested(
            fresh=done.fresh + some.fresh,
            changed=done.changed + some.changed,
            unchanged=some.unchanged - done.fresh - done.changed,
            gone=done.gone + some.gone,
            pieces=done.pieces + some.pieces,
            memories=done.memories + some.memories,
            retired=done.retired + some.retired,
            left_out=some.left_out,
            names=some.names,
            redacted=Counter(done.redacted) + Counter(some.redacted),
            remarks=tuple(dict.fromkeys((*done.remarks, *some.remarks))),
        )
        read = some.fresh + some.changed + some.unchanged
        if progress:
            progress(read, read + some.left)
        if not some.left:
            return done
