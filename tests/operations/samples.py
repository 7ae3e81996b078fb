"""A small memory, and one call of every operation on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from memento.iris import data_iri
from memento.model import CapturedTurn, NoteRow
from memento.operations import PLUGGED, Operation, capture, care, graphs, notes, sessions
from memento.operations import recall as questions
from memento.python import Memento


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What is in a sample, by its IRI."""

    namespace: str
    folder: Path
    note: str
    memory: str
    retired: str
    other: str
    data: str
    imported: str
    plugged: Mapping[str, str]
    """What the plug-ins have added, by its name."""


def make_sample(memento: Memento, namespace: str, folder: Path) -> Sample:
    """Fill a namespace with a few memories, and what the calls of the plug-ins need."""
    old = memento.note("I work at Google.", at="2024-01-08", session="monday", namespace=namespace)
    new = memento.note("I work at Microsoft.", at="2025-03-03", session="monday", namespace=namespace)
    [other] = memento.note("Oslo is cold.", tags=["town"], namespace=namespace).memories
    imported = memento.intake.import_notes([{"content": "I like figs."}], namespace=namespace)
    data = data_iri("local", namespace)
    memento.graphs.put(b"<urn:a> <urn:b> 1 .", data)
    assert old.note and new.invalidated == old.memories
    on = [of for of in dict.fromkeys(PLUGGED.values()) if of not in memento.left_out]
    added = [import_module(f"plugins.{of}.calls").prepare(memento, namespace) for of in on]
    return Sample(
        namespace=namespace,
        folder=folder,
        note=old.note,
        memory=new.memories[0],
        retired=old.memories[0],
        other=other,
        data=data,
        imported=str(imported.iri),
        plugged={name: iri for one in added for name, iri in one.items()},
    )


Call = Callable[[Sample, str], Operation[Any]]

OWN_CALLS: Mapping[type[Operation[Any]], Call] = {
    notes.Note: lambda s, n: notes.Note("I live in Lisbon.", namespace=n),
    notes.NoteStatus: lambda s, n: notes.NoteStatus(s.note, namespace=n),
    notes.Retry: lambda s, n: notes.Retry(namespace=n),
    notes.ImportNotes: lambda s, n: notes.ImportNotes((NoteRow(content="I like tea."),), namespace=n),
    notes.Mark: lambda s, n: notes.Mark(s.memory, ("work",), importance=0.9, namespace=n),
    notes.Imports: lambda s, n: notes.Imports(namespace=n),
    notes.UndoImport: lambda s, n: notes.UndoImport(s.imported, namespace=n),
    notes.ForgetTagged: lambda s, n: notes.ForgetTagged(("town",), namespace=n),
    capture.Capture: lambda s, n: capture.Capture(
        "monday", (CapturedTurn(role="user", text="I like tea."),), client="claude-code", namespace=n
    ),
    capture.Proposals: lambda s, n: capture.Proposals(namespace=n),
    capture.AcceptProposals: lambda s, n: capture.AcceptProposals(every=True, namespace=n),
    capture.RejectProposals: lambda s, n: capture.RejectProposals(("0123456789abcdef",), namespace=n),
    capture.WriteAheadLog: lambda s, n: capture.WriteAheadLog(namespace=n),
    notes.Correct: lambda s, n: notes.Correct(s.memory, "USER works at Siemens.", namespace=n),
    notes.Disputes: lambda s, n: notes.Disputes(namespace=n),
    notes.ListWaiting: lambda s, n: notes.ListWaiting(namespace=n),
    notes.Settle: lambda s, n: notes.Settle(s.memory, s.other, namespace=n),
    notes.Unforget: lambda s, n: notes.Unforget(s.memory, namespace=n),
    notes.Undo: lambda s, n: notes.Undo(s.retired, namespace=n),
    notes.Forget: lambda s, n: notes.Forget(s.other, namespace=n),
    notes.Sources: lambda s, n: notes.Sources(s.note, namespace=n),
    sessions.StartSession: lambda s, n: sessions.StartSession("Oslo", 5, namespace=n),
    sessions.SummarizeSession: lambda s, n: sessions.SummarizeSession("monday", namespace=n),
    sessions.Profile: lambda s, n: sessions.Profile(namespace=n),
    sessions.Ask: lambda s, n: sessions.Ask("Where do I work?", namespace=n),
    questions.Recall: lambda s, n: questions.Recall("Where do I work?", k=1, explain=True, related=5, namespace=n),
    questions.Get: lambda s, n: questions.Get(s.memory, namespace=n),
    questions.List: lambda s, n: questions.List(past=True, namespace=n),
    questions.Relations: lambda s, n: questions.Relations(s.memory, namespace=n),
    questions.Tags: lambda s, n: questions.Tags(namespace=n),
    questions.Entities: lambda s, n: questions.Entities(namespace=n),
    questions.Timeline: lambda s, n: questions.Timeline("me", namespace=n),
    questions.Neighbours: lambda s, n: questions.Neighbours([s.memory], namespace=n),
    questions.FindPath: lambda s, n: questions.FindPath(s.memory, s.other, namespace=n),
    questions.Manifest: lambda s, n: questions.Manifest(fresh=True, namespace=n),
    graphs.Query: lambda s, n: graphs.Query("ASK {}", "text/csv", namespace=n),
    graphs.Update: lambda s, n: graphs.Update(
        f"INSERT DATA {{ GRAPH <{s.data}> {{ <urn:x> <urn:y> 2 }} }}", namespace=n
    ),
    graphs.GetGraph: lambda s, n: graphs.GetGraph(s.data, "text/turtle", namespace=n),
    graphs.PutGraph: lambda s, n: graphs.PutGraph(b"<urn:c> <urn:d> 2 .", s.data, namespace=n),
    graphs.PostGraph: lambda s, n: graphs.PostGraph(b"<urn:e> <urn:f> 3 .", s.data, namespace=n),
    graphs.PatchGraph: lambda s, n: graphs.PatchGraph("INSERT DATA { <urn:g> <urn:h> 4 }", s.data, namespace=n),
    graphs.DeleteGraph: lambda s, n: graphs.DeleteGraph(s.data, namespace=n),
    care.Compact: lambda s, n: care.Compact(True, namespace=n),
    care.Export: lambda s, n: care.Export(str(s.folder / f"{n}.trig"), namespace=n),
    care.ImportRdf: lambda s, n: care.ImportRdf(str(s.folder / "document.ttl"), data="own", namespace=n),
    care.Status: lambda s, n: care.Status(namespace=n),
    care.Check: lambda s, n: care.Check(),
    care.Rebuild: lambda s, n: care.Rebuild(),
    care.Upgrade: lambda s, n: care.Upgrade(),
    care.Migrate: lambda s, n: care.Migrate(dry_run=True),
    care.Backup: lambda s, n: care.Backup(str(s.folder / "backups")),
    care.Restore: lambda s, n: care.Restore(str(s.folder / "backups")),
    care.ListTenants: lambda s, n: care.ListTenants(),
    care.ListTokens: lambda s, n: care.ListTokens(),
    care.CreateToken: lambda s, n: care.CreateToken(f"phone of {n}"),
    care.RevokeToken: lambda s, n: care.RevokeToken(f"phone of {n}"),
}
"""One call of every operation of Memento itself on a sample, in its namespace."""

CALLS: Mapping[type[Operation[Any]], Call] = {
    **OWN_CALLS,
    **{
        asked: call
        for of in dict.fromkeys(PLUGGED.values())
        for asked, call in import_module(f"plugins.{of}.calls").CALLS.items()
    },
}
"""The same, with the operations of the plug-ins that come with it."""
