"""The tools of the published design by the official client, under their names and with their arguments."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from conftest import OFF
from doors import text_of
from memento.interfaces.mcp import catalogue
from memento.python import Memento
from memento.retrieval.render import as_list, as_text, as_xml
from memento.settings import Settings

Json = dict[str, Any]
Call = Callable[..., Awaitable[Json]]

PUBLISHED = {
    "memory_save": {"content", "tags", "namespace", "global", "container"},
    "memory_recall": {"query", "namespace", "tags", "limit", "container", "searchMode", "after", "before"},
    "memory_search": {"query", "tags", "limit", "searchMode"},
    "memory_forget": {"id", "tag", "namespace"},
    "memory_list": {"namespace", "tags", "limit", "offset", "container", "alone"},
    "memory_health": {"namespace"},
    "memory_export": {"namespace", "format"},
    "memory_import": {"content", "format", "namespace", "tags"},
    "memory_session_start": {"query", "namespace", "limit", "folder"},
    "memory_session_summary": {"sessionId", "namespace"},
    "memory_index": {"folder", "force", "namespace"},
    "memory_ingest": {"input", "namespace", "confirmed"},
    "memory_profile": {"namespace", "regenerate"},
    "memory_compact": {"dryRun", "ttlDays", "maxEntries", "namespace"},
    "memory_migrate": {"model", "dryRun", "namespace"},
    "memory_related": {"id", "entity", "limit", "namespace"},
    "memory_stats": {"namespace", "alone"},
}


def ask(address: str, script: Callable[[Call], Awaitable[None]]) -> None:
    """Run a script of calls, each of which must succeed unless it says `fails`."""

    async def run() -> None:
        async with Client(f"{address}/mcp") as client:

            async def call(name: str, /, *, fails: bool = False, **arguments: object) -> Json:
                result = await client.call_tool(name, arguments)
                assert result.is_error is fails, text_of(result)
                return {"said": text_of(result)} if fails else dict(result.structured_content or {})

            await script(call)

    anyio.run(run)


def test_the_tools_have_the_names_and_the_arguments_that_were_published() -> None:
    listed = {
        tool["name"]: tool["inputSchema"] for tool in catalogue.lists(("care",), Settings())["tools/list"]["tools"]
    }

    for name, arguments in PUBLISHED.items():
        assert set(listed[name]["properties"]) == arguments, name
    assert listed["memory_recall"]["properties"]["limit"]["default"] == 10
    assert listed["memory_list"]["properties"]["limit"]["default"] == 10
    assert listed["memory_session_start"]["properties"]["limit"]["default"] == 15
    assert listed["memory_search"]["properties"]["searchMode"]["default"] == "hybrid"
    assert listed["memory_export"]["properties"]["format"]["default"] == "jsonl"


def test_what_is_saved_is_recalled_with_filters_and_forgotten(address: str) -> None:
    async def script(call: Call) -> None:
        first = await call("memory_save", content="The gateway listens on 8443.", tags=["gateway"], container="infra")
        await call("memory_save", content="The gateway was rewritten in Rust.", tags=["gateway"])
        assert first["count"] == 1
        assert (await call("memory_save", content="The gateway listens on 8443."))["repeated"] == 1

        found = await call("memory_recall", query="gateway", limit=5, searchMode="keyword", container="infra")
        [one] = found["memories"]
        assert (one["id"], one["preview"]) == (first["ids"][0], "The gateway listens on 8443.")
        assert "gateway" in one["tags"] and one["score"] == round(one["score"], 4) and one["timestamp"]
        none = await call("memory_recall", query="gateway", tags=["gateway"], before="2020-01-01")
        assert none["memories"] == []

        page = await call("memory_list", tags=["gateway"], limit=1, offset=1)
        assert [one["content"] for one in page["memories"]] == ["The gateway listens on 8443."]
        assert (await call("memory_forget", id=first["ids"][0]))["memories"] == first["ids"]
        assert len((await call("memory_forget", tag="gateway"))["memories"]) == 1
        assert (await call("memory_list", tags=["gateway"]))["memories"] == []
        assert "id or a tag" in (await call("memory_forget", fails=True))["said"]
        assert "has the tag gateway" in (await call("memory_forget", fails=True, tag="gateway"))["said"]

    ask(address, script)


def test_a_long_text_is_saved_in_pieces_and_a_global_one_is_read_everywhere(memory: Memento, address: str) -> None:
    words = " ".join(f"Sentence {n} tells of the harbour." for n in range(250))

    async def script(call: Call) -> None:
        long = await call("memory_save", content=words, namespace="harbour")
        assert long["count"] == 4 and len(set(long["ids"])) == 4
        await call("memory_save", content="The zeppelin flies on Mondays.", **{"global": True})
        await call("memory_save", content="The zeppelin needs helium.", namespace="air")
        found = await call("memory_recall", query="zeppelin", namespace="harbour", searchMode="keyword", limit=1)
        assert found["memories"][0]["preview"] == "The zeppelin flies on Mondays."
        everywhere = await call("memory_search", query="zeppelin helium", limit=1)
        assert everywhere["memories"][0]["preview"] == "The zeppelin needs helium."

    ask(address, script)
    ids = [one.iri for one in memory.list(namespace="harbour") if one.content.startswith("Sentence 0 ")]
    assert len(ids) == 1


PLACES = """
PREFIX mem: <http://purl.org/memento/>
SELECT ?memory ?note ?piece ?pieces ?parent ?overlap WHERE {
  ?memory mem:extractedFrom ?note . ?note mem:piece ?piece ; mem:pieces ?pieces .
  OPTIONAL { ?note mem:parent ?parent }
  OPTIONAL { ?note mem:overlap ?overlap }
} ORDER BY ?piece
"""


def test_a_piece_of_a_saved_text_points_at_the_first_and_carries_its_number(
    memory: Memento, address: str, tmp_path: Path
) -> None:
    words = " ".join(f"Sentence {n} tells of the ferry." for n in range(250))

    async def script(call: Call) -> None:
        saved = (await call("memory_save", content=words, namespace="ferry"))["ids"]
        short = (await call("memory_save", content="A short text about the pier.", namespace="ferry"))["ids"]
        first, *others = rows = list(
            csv.DictReader(
                memory.graphs.query_bytes(PLACES, namespace="ferry", accept="text/csv")[0].decode().splitlines()
            )
        )
        assert [one["memory"] for one in rows] == saved
        assert [(one["piece"], one["pieces"]) for one in rows] == [(str(number), "4") for number in (1, 2, 3, 4)]
        assert (first["parent"], first["overlap"]) == ("", "")
        assert {one["parent"] for one in others} == {first["note"]} and all(int(one["overlap"]) > 0 for one in others)
        best = memory.recall("Which sentence tells of the ferry?", namespace="ferry", k=1).memories[0]
        assert best.note and best.note.place.endswith("of 4")
        assert not memory.admin.check()

        memory.export(file := tmp_path / "ferry.trig", namespace="ferry")
        assert file.read_text().count("/parent>") + file.read_text().count("mem:parent") == 3

        memory.forget(first["note"], erase=True, namespace="ferry")
        assert [one.iri for one in memory.list(namespace="ferry", alone=True)] == short

    ask(address, script)


def test_pieces_of_one_text_stay_however_alike_they_are(memory: Memento, address: str) -> None:
    chance = random.Random(3)
    words = [
        "the",
        "tide",
        "harbour",
        "boats",
        "crew",
        "nets",
        "calm",
        "wind",
        "rose",
        "fell",
        "quay",
        "came",
        "went",
        "again",
    ]
    text = "\n\n".join(f"{' '.join(chance.choices(words, k=108))}." for _ in range(20))

    async def script(call: Call) -> None:
        saved = await call("memory_save", content=text, namespace="log")
        assert (saved["count"], saved["superseded"]) == (len(set(saved["ids"])), [])
        again = await call("memory_save", content=text, namespace="log")
        assert again["repeated"] == saved["count"]
        listed = (await call("memory_list", namespace="log", alone=True, limit=50))["memories"]
        assert {one["iri"] for one in listed} == set(saved["ids"])

    ask(address, script)


IMPORTED = {
    "json": ('[{"content": "Json one."}, {"text": "Json two."}, "Json three."]', 3, 0),
    "jsonl": ('{"content": "Line one."}\n{"broken\n{"kind": "Line", "n": 2}', 2, 1),
    "markdown": ("# Mark\nMark one.\n## More\nMark two.\n### Deep\nMark three.", 2, 0),
    "text": ("Paragraph one.\n\nParagraph two.", 2, 0),
    "csv": ("id,content\n1,Row one.\n2,Row two.", 2, 0),
}


asks_intake = pytest.mark.skipif("intake" in OFF, reason="it asks intake")


@asks_intake
@pytest.mark.parametrize("form", IMPORTED)
def test_a_text_is_taken_in_part_by_part_and_once(address: str, form: str) -> None:
    content, count, bad = IMPORTED[form]

    async def script(call: Call) -> None:
        there = {"namespace": f"import-{form}", "content": content, "format": form}
        done = await call("memory_import", **there, tags=["batch"])
        assert (done["imported"], done["skipped"]) == (count, bad)
        assert (await call("memory_import", **there))["known"] == count
        listed = await call("memory_list", namespace=f"import-{form}", tags=["batch"], limit=100)
        assert len(listed["memories"]) == count

    ask(address, script)


@asks_intake
def test_bad_rows_are_named_and_the_tags_of_good_ones_kept_there_and_back(address: str) -> None:
    table = 'id,content,tags\n1,"The sail, a red one, is torn.","sail,loft"\n2\n3,"open\n'
    fenced = "# Boat\n```sh\n# no heading\nmake sail\n```\n# Oars\nTwo."

    async def script(call: Call) -> None:
        there = {"namespace": "loft", "format": "csv", "content": table}
        done = await call("memory_import", **there)
        assert (done["imported"], done["skipped"]) == (1, 2) and len(done["refused"]) == 2
        fence = await call("memory_import", namespace="fenced", format="markdown", content=fenced)
        assert fence["imported"] == 2
        out = await call("memory_export", namespace="loft")
        await call("memory_import", namespace="away", format="jsonl", content=out["content"])
        [one] = (await call("memory_list", namespace="away", tags=["sail"], alone=True))["memories"]
        assert one["content"] == "The sail, a red one, is torn." and {"sail", "loft"} <= set(one["tags"])

    ask(address, script)


@pytest.mark.parametrize("form", ["jsonl", "json", "markdown", "csv"])
def test_an_export_is_a_document_in_the_answer(address: str, form: str) -> None:
    async def script(call: Call) -> None:
        await call("memory_save", content="Only this is exported.", namespace="out")
        done = await call("memory_export", namespace="out", format=form)
        assert done["format"] == form and done["count"] == 1
        assert "Only this is exported." in done["content"]

    ask(address, script)


def test_a_session_starts_is_summed_up_and_counted(memory: Memento, address: str) -> None:
    memory.note("I decided to use Kafka.", session="k1", namespace="session")
    memory.note("Ada works at Siemens.", session="k1", namespace="session")

    async def script(call: Call) -> None:
        begun = await call("memory_session_start", namespace="session", limit=3)
        assert [one["preview"] for one in begun["decisions"]] == ["I decided to use Kafka."]
        summed = await call("memory_session_summary", sessionId="k1", namespace="session")
        assert len(summed["members"]) == 2 and len(summed["summary"]) <= 2000
        about = await call("memory_profile", namespace="session", regenerate=True)
        assert about["memories"] == 3
        numbers = await call("memory_stats", namespace="session")
        assert numbers["by_tag"]["decision"] == 2 and numbers["bytes_on_disk"] > 0
        health = await call("memory_health", namespace="session")
        assert (
            health["capture"] == "off"
            and health["embedder"]
            and health["namespace"] == "session"
            and health["memories"] >= 3
        )
        assert (
            "session"
            in (await call("memory_session_summary", fails=True, sessionId="none", namespace="session"))["said"]
        )

    ask(address, script)


def test_a_namespace_is_tidied_related_and_moved_by_the_published_names(memory: Memento, address: str) -> None:
    kept = memory.note("Ada works at Siemens.", namespace="tidy").memories[0]
    memory.note("The office is in Ulm.", namespace="tidy")

    async def script(call: Call) -> None:
        staged = await call("memory_compact", namespace="tidy", dryRun=True, maxEntries=1)
        assert (staged["evicted"], staged["total"], staged["stage"]) == (1, 2, "staged")
        listed = (await call("memory_list", namespace="tidy", limit=50))["memories"]
        assert {"Ada works at Siemens.", "The office is in Ulm."} <= {one["content"] for one in listed}
        about = await call("memory_related", namespace="tidy", entity="Ada")
        assert [one["content"] for one in about["relations"]] == ["Ada works at Siemens."]
        assert (await call("memory_related", namespace="tidy", id=kept))["relations"] == []
        assert "entity" in (await call("memory_related", fails=True, namespace="tidy"))["said"]
        moved = await call("memory_migrate", dryRun=True)
        assert moved["dry_run"] and moved["before"] == moved["after"] and moved["embedded"] == 0

    ask(address, script)


def test_a_recall_says_what_contradicts_a_memory(memory: Memento, address: str) -> None:
    memory.note("I train the goats with Dr Lund.", namespace="goats")
    memory.note("I train the goats with Dr Ferrar.", namespace="goats")
    first, second = "I train the goats with Dr Lund.", "I train the goats with Dr Ferrar."

    async def script(call: Call) -> None:
        shown = (await call("memory_recall", query="With whom do I train the goats?", namespace="goats"))["memories"]
        said = {one["preview"]: one["contradicts"] for one in shown}
        assert (said[first], said[second]) == ([second], [first])

    ask(address, script)
    found = memory.recall("With whom do I train the goats?", namespace="goats")
    said = {one.content: [other.content for other in one.contradicts] for one in found.memories}
    assert (said[first], said[second]) == ([second], [first])
    assert f"<contradicted_by><content>{first}" in as_xml(found, date(2026, 1, 1)).replace("\n", "").replace("  ", "")
    assert f"contradicted by “{first}”" in as_list(found) and f"Contradicted by: {first}" in as_text(found)


COUNT_TAGGED = """PREFIX mem: <http://purl.org/memento/>
SELECT (COUNT(DISTINCT ?m) AS ?n) { ?m mem:tagged ?t . ?t mem:name "mast" }"""


def test_figures_and_lists_of_one_namespace_alone(memory: Memento, address: str) -> None:
    async def script(call: Call) -> None:
        await call("memory_save", content="We decided on oak for the mast.", tags=["mast"])
        await call("memory_save", content="We decided on pine for the oars.", tags=["mast"], namespace="shed")
        both = await call("memory_stats", namespace="shed")
        alone = await call("memory_stats", namespace="shed", alone=True)
        assert both["by_tag"]["mast"] == 2 and alone["by_tag"]["mast"] == 1
        assert alone["memories"] == 1
        counted, _ = memory.graphs.query_bytes(COUNT_TAGGED, "application/sparql-results+json", namespace="shed")
        [row] = json.loads(counted)["results"]["bindings"]
        assert int(row["n"]["value"]) == both["by_tag"]["mast"]
        listed = await call("memory_list", namespace="shed", alone=True)
        assert [one["content"] for one in listed["memories"]] == ["We decided on pine for the oars."]

    ask(address, script)
    assert {one.tag: one.count for one in memory.review.tags(namespace="shed", alone=True)}["mast"] == 1
    assert len(memory.list(namespace="shed", alone=True)) == 1
