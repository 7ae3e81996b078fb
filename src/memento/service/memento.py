"""The memory of one data folder: parse, lock, delegate."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from memento.datadir import Owner
from memento.service.care import Care
from memento.service.expressions import Expressions
from memento.service.keys import Keys
from memento.service.living import Living
from memento.service.mapping import Mapping
from memento.service.plans import Plans
from memento.service.reading import Reading
from memento.service.updating import Updating
from memento.service.writing import Writing
from memento.time import now

_PATIENCE_S = 2.0
"""How long the end waits for a note that is being understood; it stays pending and is taken up by the next process."""
_FIRST = "What is known of me?"


class Memento(Writing, Reading, Keys, Expressions, Living, Mapping, Updating, Plans, Care):
    """The memory of one data folder. Use `open_memento` to get one; a context manager."""

    @property
    def ready(self) -> bool:
        """Whether the next question is answered as fast as any: the embedder is loaded, and one was asked."""
        return self._parts.warm

    def warm_up(self) -> None:
        """
        Load the embedder and answer a question, so that the first one is as fast as the next; `ready` is True afterwards.

        Raises:
            BackendError: the embedder cannot be loaded, or the store not be read.
        """
        self._parts.warm_up()
        # Whatever is far from it: the way to the end of the pipeline is to be gone once.
        self.glimpse(_FIRST, gate=False)
        if self.settings.inference.on:
            self._parts.inferences.refresh(self._scope, now())  # which after a start takes longest
        self._parts.warm = True

    def serve_at(self, address: str) -> None:
        """Tell other processes where this one answers, and have workers ready for their queries."""
        self._workers.start()
        token = self.tokens.for_owner()
        self.datadir.publish(Owner(pid=os.getpid(), command="memento serve", address=address, token=token))

    def close(self) -> None:
        """Let go of the data folder; calling it twice is harmless."""
        self._worker.stop(_PATIENCE_S)
        self._checkpoints.stop(_PATIENCE_S)
        if self._models:
            self._models.close()
        self._maps.close(_PATIENCE_S)
        self._reinforcement.close(_PATIENCE_S)
        self._workers.close()
        with self._writing:  # never between the two halves of a write
            self._domains.save()
            self._parts.close()
        self.datadir.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
