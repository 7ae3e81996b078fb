"""A tenant's memory moves to another store by export and import."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from endpoints import Server
from memento.access import Access
from memento.errors import Forbidden
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Client, Memento, open_memento

WORDS = ("hammer", "pliers", "saw", "chisel")


def of(node: Memento | Client, tenant: str) -> Memento:
    assert isinstance(node, Memento)
    return node.with_access(Access(tenant=tenant, right="admin", name="caller"))


def contents(memento: Memento, question: str) -> list[str]:
    return [memory.content for memory in memento.recall(question).memories]


def test_a_tenant_moves_to_a_shared_store_by_export_and_import(server: Server, tmp_path: Path) -> None:
    server.empty()
    shared = replace(
        OFFLINE,
        store=StoreSettings("sparql", server.query_url, server.update_url),
        index=IndexSettings(kind="lance", uri=str(tmp_path / "engine")),
    )
    with (
        open_memento(tmp_path / "old", configured=OFFLINE) as old,
        open_memento(tmp_path / "new", configured=shared) as new,
    ):
        for tenant in ("ada", "bob"):
            for place, word in enumerate(WORDS):
                of(old, tenant).note(f"{tenant.title()} keeps the {word} in drawer {place * 7}.", namespace="tools")
        of(old, "ada").note("Ada's dog is called Rex.")
        document = tmp_path / "ada.trig"
        of(old, "ada").export(str(document))
        of(new, "ada").intake.import_rdf(str(document))

        there = {one.tenant: one.statements for one in new.admin.list_tenants()}
        assert "bob" not in there and there["ada"] > 0
        assert of(new, "ada").list(namespace="tools") == of(old, "ada").list(namespace="tools")
        for word in WORDS:
            question = f"Where is the {word}?"
            answers = [
                [one.content for one in of(node, "ada").recall(question, namespace="tools").memories]
                for node in (new, old)
            ]
            assert answers[0] == answers[1] and word in answers[0][0]
        assert contents(of(new, "ada"), "What is the dog called?")[0] == "Ada's dog is called Rex."


def test_only_who_cares_for_the_whole_memory_may_list_the_tenants(memento: Memento) -> None:
    with pytest.raises(Forbidden):
        of(memento, "ada").admin.list_tenants()
