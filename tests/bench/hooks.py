"""
How long does a client wait for a hook that captures?

`memento hook install claude-code --tools` writes the client's configuration into a temporary home; the commands in it are run one
after the other as the client runs them, with a tool's answer or a transcript. Beside them: the same command without the line of
shell that lets the client go on, which is how long the capture itself takes. Each run begins when the capture of the one before has
ended. No service runs.

Run: `.venv/bin/python tests/bench/hooks.py [--runs 50] [--record]`, about three minutes on two cores.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import record, shown, spread, timed

TOLD: dict[str, dict[str, object]] = {
    "PostToolUse": {
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": {"stdout": "The build is done, and nothing is left to do for it today. " * 20},
    },
    "Stop": {"session_id": "s-1", "transcript_path": "transcript.jsonl"},
}
TURNS = [
    {
        "type": role,
        "uuid": f"{role}{n}",
        "sessionId": "s-1",
        "message": {"role": role, "content": f"Turn {n}: " + "word " * 40},
    }
    for n in range(20)
    for role in ("user", "assistant")
]


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the spreads in milliseconds."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--direct", type=int, default=5, help="runs of the command that captures")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    figures: dict[str, object] = {"runs": chosen.runs}
    with TemporaryDirectory(prefix="memento-bench-") as name:
        home = Path(name)
        env = {**os.environ, "HOME": name, "MEMENTO_HOME": str(home / "home"), "MEMENTO_CAPTURE_MODE": "off"}
        (home / "transcript.jsonl").write_text("".join(json.dumps(one) + "\n" for one in TURNS), encoding="utf-8")
        memento = Path(sys.executable).with_name("memento")
        subprocess.run(
            [memento, "hook", "install", "claude-code", "--tools"], env=env, check=True, capture_output=True, cwd=home
        )
        hooks = json.loads((home / ".claude" / "settings.json").read_text(encoding="utf-8"))["hooks"]
        for event, told in TOLD.items():
            installed = hooks[event][0]["hooks"][0]["command"]
            words = shlex.split(installed)
            alone = shlex.join(words[words.index(str(memento)) :])
            for what, line, runs in (("waits", installed, chosen.runs), ("takes", alone, chosen.direct)):
                ms = spread([_time_hook(line, told, env, home) for _ in range(runs)])
                figures[f"{event}_{what}_ms"] = ms
                print(shown(f"{event}: the client waits" if what == "waits" else f"{event}: capturing takes", ms))
    record("hooks", figures, chosen.record)
    return figures


def _time_hook(line: str, told: Mapping[str, object], env: Mapping[str, str], folder: Path) -> float:
    """Run a hook as a client does, by a shell until its output ends; return the seconds, once what it started has ended too."""
    rest, held = os.pipe()  # whatever the hook starts holds this pipe open
    try:
        seconds = timed(
            lambda: subprocess.run(
                line,
                shell=True,
                input=json.dumps(told).encode(),
                env=dict(env),
                cwd=folder,
                capture_output=True,
                check=True,
                pass_fds=(held,),
            )
        )[1]
        os.close(held)
        os.read(rest, 1)
    finally:
        os.close(rest)
    return seconds


if __name__ == "__main__":
    main()
