"""
Intake: files of other programs, documents, source and pages, files as they arrive, what agents have written, Claude's memory tool.

*Flow:* `programs` reads the files of other programs as rows, which the core notes. `locations` finds files and fetches pages,
`extractors` and `code` read them in a worker, `documents` plans what changes, `handlers` notes the pieces. `adoption` finds what
agents have written on this machine; `inbox` watches a folder; `memory_files` are the commands of the memory tool; `hooks` are
what clients call at the beginning of a session and as it goes on.
"""

from memento.plugin import Plugin

_SOURCES = "memento.plugins.intake.programs"

plugin = Plugin(
    name="intake",
    summary="Take in files of other programs, documents, source, web pages, and what agents have written.",
    operations="memento.plugins.intake.operations",
    handlers="memento.plugins.intake.handlers",
    settings={"intake": "memento.plugins.intake.settings:IntakeSettings"},
    tools={"intake": "memento.plugins.intake.tools:INTAKE_TOOLS"},
    groups={
        "files": "Take files in as they arrive, index a project, serve Claude's memory tool.",
        "hook": "Hooks in clients: recall when a session starts, capture what was said in it.",
    },
    commands="memento.plugins.intake.commands",
    importers={
        "chatgpt": f"{_SOURCES}:CHATGPT",
        "claude": f"{_SOURCES}:CLAUDE",
        "claude-code": f"{_SOURCES}:CLAUDE_CODE",
        "codex": f"{_SOURCES}:CODEX",
        "gemini": f"{_SOURCES}:GEMINI",
        "mem0": f"{_SOURCES}:MEM0",
        "server-memory": f"{_SOURCES}:SERVER_MEMORY",
        "basic-memory": f"{_SOURCES}:BASIC_MEMORY",
        "okf": f"{_SOURCES}:OKF",
        "obsidian": f"{_SOURCES}:OBSIDIAN",
    },
)
