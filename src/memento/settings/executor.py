"""What carries out plans: which servers of tools there are, and how far a run may go."""

from __future__ import annotations

from dataclasses import dataclass

from memento.settings.knob import knob


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    servers: str = knob(
        "",
        "JSON object, or tables, of MCP servers by name: command, args, env and cwd of a program, or url and headers of an "
        "address; tools lists those that may be used, prefix goes before their names",
        secret=True,
        json=True,
    )
    cycles: int = knob(3, "plans that one task may have: after a failure it is planned again", least=1)
    steps: int = knob(20, "steps that one task may have, those of all its plans together", least=1)
    calls: int = knob(50, "calls of tools in one go", least=1)
    tokens: int = knob(100_000, "tokens of the model in one go; 0 sets no bound", least=0)
    wall_s: float = knob(600.0, "seconds of one go, before which every call ends", least=0.001)
    start_s: float = knob(20.0, "seconds that a server may take to start and to list its tools", least=0.001)
    call_s: float = knob(60.0, "seconds that one call of a tool may take", least=0.001)
    result_chars: int = knob(20_000, "characters kept of what a tool says", least=100)
