"""
What is made from a seed is answered, or refused with a reason: never a failure of ours, and nothing that was said is changed.

A few seconds each in `make test`; `FUZZ_S` gives each of them longer, `FUZZ_SEED` begins elsewhere. A failure names its seed.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pyoxigraph as ox
import pytest

from conftest import OFFLINE
from doors import serving
from fuzz.generators import Queries, count_up, draw_body, draw_note, mutate
from kept import keep
from memento.errors import MementoError
from memento.graph.oxigraph import Oxigraph
from memento.interfaces.web.app import create_app
from memento.iris import MEM, graph_iri
from memento.model import Quad
from memento.operations.care import Export
from memento.python import Memento, open_memento
from memento.service.handlers.care import export_pieces, take_in

SECONDS = float(os.environ.get("FUZZ_S", "3"))
SEED = int(os.environ.get("FUZZ_SEED", "0"))


def seeds() -> Iterator[int]:
    """Yield seeds until the time is over."""
    end = time.monotonic() + SECONDS
    for seed in count_up(SEED):
        if time.monotonic() > end:
            return
        yield seed


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    memento = open_memento(tmp_path_factory.mktemp("fuzzed") / "home", configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento:
        memento.note("I live in Lisbon.")
        memento.note("I work at Google.", at="2024-01-08")
        memento.note("I work at Microsoft now.", at="2025-01-08")
        keep(memento, "Green tea is steeped at 75 degrees.")
        memento.graphs.put(
            b"<urn:x:s> <urn:x:p> <urn:x:t> , 1 , 'x'@en . <urn:x:t> <urn:x:q> <urn:x:s> .", "urn:memento:data:local:x"
        )
        yield memento


def said(memento: Memento) -> set[Quad]:
    """What was said, in the words of its notes."""
    store = memento.service.stores.graph
    return {
        quad
        for name in store.graphs()
        if name.startswith(graph_iri("local", ""))
        for quad in store.quads(name)
        if quad[0].startswith("urn:memento:note:") and quad[1] in (MEM.content, MEM.at)
    }


def test_queries_are_answered_as_the_engine_answers_them(fuzzed: Memento) -> None:
    visible = fuzzed.context.visible_graphs(fuzzed.context.scope(None))
    default: list[ox.NamedNode | ox.BlankNode | ox.DefaultGraph] = [ox.NamedNode(name) for name in visible.default]
    named: list[ox.NamedNode | ox.BlankNode] = [ox.NamedNode(name) for name in visible.named]
    fuzzed.graphs.infer()
    for seed in seeds():
        query = Queries(seed).draw()
        try:
            body, _ = fuzzed.graphs.query_bytes(
                query, accept="application/sparql-results+json, application/n-triples", timeout_s=2
            )
        except MementoError as error:
            assert error.status != 500, (seed, query, error)
            continue
        is_whole = query.count("LIMIT") == 0 and "NOW()" not in query
        if not query.split("> ", 1)[1].startswith("ASK") or not is_whole:
            continue
        graph = fuzzed.service.stores.graph
        assert isinstance(graph, Oxigraph)
        with graph.reading() as store:
            found = store.query(query, default_graph=default, named_graphs=named)
        assert json.loads(body)["boolean"] == bool(found), (seed, query)


def test_notes_are_kept_in_their_words(tmp_path: Path) -> None:
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        texts = set()
        for seed in seeds():
            text = draw_note(Random(seed))
            begin = time.process_time()
            try:
                noted = memento.note(text, namespace=("main", "work")[seed % 2])
            except MementoError as error:
                assert 400 <= error.status < 500, (seed, text, error)
                continue
            if noted.note:  # a question is none
                texts.add(text.strip())
            assert time.process_time() - begin < 5, (seed, text)
        assert texts <= {str(quad[2]).strip() for quad in said(memento)}
        assert memento.admin.check() == ()


@pytest.mark.parametrize("form", ["trig", "jsonld", "nquads"])
def test_mutated_documents_change_nothing_that_was_said(form: str, fuzzed: Memento) -> None:
    document = b"".join(export_pieces(Export("-", form), fuzzed.context).pieces)
    before = said(fuzzed)
    for seed in seeds():
        mutant = mutate(document, Random(seed))
        try:
            take_in(io.BytesIO(mutant), "it", form, fuzzed.context, namespace=None, data="mutants")
        except MementoError as error:
            assert 400 <= error.status < 500, (seed, error)
    assert before <= said(fuzzed)
    changed = {quad[0] for quad in said(fuzzed) - before} & {quad[0] for quad in before}
    assert not changed
    assert fuzzed.recall("Where do I live?").memories


def _bodies(paths: dict[str, Any], schemas: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the requests that take JSON, but those that reach files, other programs or the whole folder."""

    def resolve(schema: Any) -> Any:
        if isinstance(schema, dict):
            if "$ref" in schema:
                return resolve(schemas.get(schema["$ref"].rsplit("/", 1)[-1], {}))
            return {name: resolve(one) for name, one in schema.items()}
        return [resolve(one) for one in schema] if isinstance(schema, list) else schema

    left = ("backup", "restore", "import", "rebuild", "mcp", "/v1", "/api")
    return [
        (method, path, resolve(taken["requestBody"]["content"]["application/json"]["schema"]))
        for path, methods in paths.items()
        for method, taken in methods.items()
        if isinstance(taken, dict)
        and "application/json" in taken.get("requestBody", {}).get("content", {})
        and not any(word in path for word in left)
    ]


def test_bodies_of_requests_are_answered_or_refused(fuzzed: Memento) -> None:
    client = create_app(fuzzed.service).test_client()
    described = client.get("/memory/openapi.json").get_json()
    requests = _bodies(described["paths"], described.get("components", {}).get("schemas", {}))
    assert len(requests) > 10
    for seed in seeds():
        random = Random(seed)
        method, path, schema = random.choice(requests)
        body = draw_body(random, schema)
        address = path.replace("{", "").replace("}", "")
        answer = client.open(
            address, method=method.upper(), data=body, content_type="application/json", headers={"Host": "localhost"}
        )
        assert answer.status_code < 500, (seed, method, path, body, answer.text)
    assert fuzzed.admin.check() == ()


def test_arguments_of_tools_are_answered_or_refused(fuzzed: Memento) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    with serving(fuzzed) as address, httpx2.Client(base_url=address, headers=headers, timeout=60) as client:

        def ask(method: str, **parameters: Any) -> httpx2.Response:
            asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
            return client.post("/mcp", content=json.dumps(asked))

        tools = ask("tools/list").json()["result"]["tools"]
        assert len(tools) > 3
        for seed in seeds():
            random = Random(seed)
            tool = random.choice(tools)
            arguments = json.loads(draw_body(random, tool["inputSchema"], is_cut=False))
            answer = ask("tools/call", name=tool["name"], arguments=arguments)
            found = answer.json()
            assert answer.status_code < 500, (seed, tool["name"], arguments)
            assert found.get("error", {}).get("code") != -32603, (seed, tool["name"], arguments, found)
    assert fuzzed.admin.check() == ()
