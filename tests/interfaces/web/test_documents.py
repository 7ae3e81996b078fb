"""Exports and imports over real HTTP: of any length, packed, broken off, refused."""

from __future__ import annotations

import gzip
import http.client
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from archive.test_rdf_import import everything
from conftest import OFFLINE
from doors import serving
from memento.archive import exchange
from memento.errors import Forbidden, GraphError, InputError, NotAcceptable, ShapeViolation, TooLong, Unreachable
from memento.python import Client, Memento, open_memento
from memento.time import now


@pytest.fixture
def client(memento: Memento) -> Iterator[Client]:
    memento.note("I live in Lisbon.")
    memento.note("My boss is Ana Silva.", namespace="work")
    with serving(memento) as address:
        yield Client(address, namespace="work")


@pytest.mark.parametrize("name", ["all.trig", "all.nq.gz", "all.jsonld"])
def test_a_client_exports_and_imports_as_the_memory_itself_does(
    name: str, client: Client, memento: Memento, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    there = client.export(tmp_path / name, vectors=True, progress=lambda done, total: seen.append((done, total)))
    here = memento.export(tmp_path / f"here-{name}", vectors=True)
    with open_memento(tmp_path / "copy", configured=OFFLINE) as copy:
        assert isinstance(copy, Memento)
        copy.intake.import_rdf(tmp_path / name)
        assert everything(copy.service.stores) == everything(memento.service.stores)
    again = client.intake.import_rdf(tmp_path / name, progress=lambda done, total: seen.append((done, total)))

    assert replace(there, file=here.file, bytes=here.bytes) == here
    assert seen[-2] == (there.statements, there.statements)
    assert (again.added, again.memories) == (0, 0)


@pytest.mark.parametrize("name", ["all.jsonl", "all.json", "all.csv.gz", "all.md"])
def test_rows_travel_as_the_memory_itself_writes_them(
    name: str, client: Client, memento: Memento, tmp_path: Path
) -> None:
    there = client.export(tmp_path / name, past=True)
    here = memento.export(tmp_path / f"here-{name}", past=True)
    again = client.intake.import_rdf(tmp_path / name, namespace="main")

    assert (tmp_path / name).read_bytes() == (tmp_path / f"here-{name}").read_bytes()
    assert (there.form, there.statements) == (here.form, here.statements)
    assert there.statements >= 2 and again.memories >= 1  # what was in `work` has a copy in `main`


def test_a_namespace_that_is_named_goes_out_alone(client: Client, tmp_path: Path) -> None:
    client.export(tmp_path / "work.trig", namespace="work")
    client.export(tmp_path / "all.trig")

    assert "I live in Lisbon." not in (tmp_path / "work.trig").read_text()
    assert "I live in Lisbon." in (tmp_path / "all.trig").read_text()


def test_errors_are_those_of_the_service_and_leave_no_file(client: Client, tmp_path: Path) -> None:
    (tmp_path / "bad.trig").write_text("GRAPH <urn:g> {\n <urn:a> bad }")
    (tmp_path / "half.trig").write_text(
        "GRAPH <urn:memento:graph:local:main> { <urn:memento:memory:1> a <http://purl.org/memento/Memory> }"
    )
    with pytest.raises(NotAcceptable):
        client.export(tmp_path / "all.rdf")
    with pytest.raises(InputError, match=r"overwrite is needed to replace .*bad\.trig"):
        client.export(tmp_path / "bad.trig")
    with pytest.raises(InputError, match=r"bad\.trig line 2, column"):
        client.intake.import_rdf(tmp_path / "bad.trig")
    with pytest.raises(ShapeViolation, match="exactly one mem:content"):
        client.intake.import_rdf(tmp_path / "half.trig")
    with pytest.raises(InputError, match="cannot be read"):
        client.intake.import_rdf(tmp_path / "none.trig")

    assert sorted(path.name for path in tmp_path.glob("*.t*")) == ["bad.trig", "half.trig"]


def test_a_document_over_the_limit_is_refused_also_when_it_is_packed(
    client: Client, memento: Memento, tmp_path: Path
) -> None:
    limits = replace(memento.settings.limits, document_bytes=10_000)
    memento.service.settings = replace(memento.settings, limits=limits)
    (tmp_path / "long.nq.gz").write_bytes(gzip.compress(b"# " + b"x" * 20_000))
    with serving(memento) as address, pytest.raises(TooLong):
        Client(address).intake.import_rdf(tmp_path / "long.nq.gz")
    (tmp_path / "long.nq").write_bytes(b"# " + b"x" * 20_000)
    with serving(memento) as address, pytest.raises(TooLong):
        Client(address).intake.import_rdf(tmp_path / "long.nq")


def test_an_export_that_breaks_off_leaves_no_file(
    client: Client, memento: Memento, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*of: Any) -> Iterator[bytes]:
        yield b"# begins\n" * 20_000
        raise GraphError("the disk is gone")

    monkeypatch.setattr(exchange, "write_document", broken)
    with pytest.raises(Unreachable, match="in the middle"):
        client.export(tmp_path / "all.trig")

    assert list(tmp_path.glob("all*")) == []
    with pytest.raises(GraphError, match="disk"):
        memento.export(tmp_path / "all.trig")
    assert list(tmp_path.glob("all*")) == []


def test_the_context_is_served_to_who_may_read(client: Client, memento: Memento) -> None:
    connection = http.client.HTTPConnection(client.address.removeprefix("http://"))
    connection.request("GET", "/context.jsonld")
    answer = connection.getresponse()
    body = answer.read()
    connection.close()

    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/ld+json")
    assert b'"validAt"' in body


def test_far_away_nobody_names_a_folder_of_this_machine(client: Client, memento: Memento, tmp_path: Path) -> None:
    token = memento.tokens.create("far", tenant="local", namespaces=[], right="admin", at=now())
    far = Client(client.address, token=token)

    assert far.admin.backup().folder.startswith(str(memento.datadir.backups))
    with pytest.raises(Forbidden, match="on the machine itself"):
        far.admin.backup(tmp_path / "here")
    assert client.admin.backup(tmp_path / "here").statements > 0


def test_a_client_that_leaves_ends_the_export_and_nothing_of_it_is_left(client: Client, memento: Memento) -> None:
    own = ("urn:row", "urn:says", "urn:memento:data:local:own")
    row, says, graph = map(ox.NamedNode, own)
    long = (ox.Quad(row, says, ox.Literal(f"{number} {'x' * 2000}"), graph) for number in range(6000))
    memento.service.stores.graph.extend(long, [])
    connection = http.client.HTTPConnection(client.address.removeprefix("http://"))
    connection.request("GET", "/memory/export?format=nquads")
    answer = connection.getresponse()
    begun = answer.read(1000)
    connection.close()
    answer.close()
    deadline = time.monotonic() + 60
    while list(memento.datadir.path.glob("export-*")) and time.monotonic() < deadline:
        time.sleep(0.02)

    assert begun.startswith(b"# Memento export\n")
    assert not list(memento.datadir.path.glob("export-*"))
