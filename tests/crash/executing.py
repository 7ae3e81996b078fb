"""Plans three lines for a file and carries them out, until it is killed: `python executing.py HOME SERVERS`."""

from __future__ import annotations

import sys

from memento.plugins.cases.settings import ExecutorSettings
from memento.python import open_memento
from memento.settings import EmbeddingSettings, Settings

if __name__ == "__main__":
    offline = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))
    with open_memento(sys.argv[1], configured=offline.having(ExecutorSettings(servers=sys.argv[2]))) as memento:
        steps = [
            'append_line {"path": "log.txt", "line": "one"}',
            'append_and_wait {"path": "log.txt", "line": "two", "seconds": 60}',
            'append_line {"path": "log.txt", "line": "three"}',
        ]
        memento.cases.execute_task(memento.cases.plan_task("Write three lines.", steps=steps).run.iri)
