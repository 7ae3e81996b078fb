"""A process is killed while a tool works for it; whoever carries on knows what was done, and what may have been."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from conftest import OFFLINE
from fileserver import serving_files
from memento.plugins.cases.settings import ExecutorSettings
from memento.python import open_memento

CHILD = Path(__file__).with_name("executing.py")


def test_what_was_done_is_not_done_again_and_what_may_have_been_is_asked_about(tmp_path: Path) -> None:
    folder, home = tmp_path / "files", tmp_path / "home"
    folder.mkdir()
    log = folder / "log.txt"
    with serving_files(folder) as address:
        servers = json.dumps({"files": {"url": address}})
        with subprocess.Popen([sys.executable, str(CHILD), str(home), servers]) as child:
            while child.poll() is None and not (log.exists() and "two" in log.read_text()):
                time.sleep(0.02)
            child.kill()
        assert child.returncode == -9
        settings = OFFLINE.having(ExecutorSettings(servers=servers))
        with open_memento(home, configured=settings) as memento:
            [left] = memento.cases.task_runs(state="pending")
            asked = memento.cases.execute_task(left.iri)
            before = log.read_text()
            done = memento.cases.execute_task(left.iri, uncertain="skip")

    assert [one.state for one in asked.run.steps] == ["done", "pending", "pending"]
    assert asked.ending == "uncertain"
    assert "the call of append_and_wait in step 2" in asked.reason
    assert before == "one\ntwo\n"
    assert done.ending == "done"
    assert log.read_text() == "one\ntwo\nthree\n"
    assert done.completed is not None
