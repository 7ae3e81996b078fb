"""A node may be named by the end of its IRI, where no other has the same."""

from __future__ import annotations

import pytest

from memento.errors import InputError, NotFound
from memento.python import Memento


def test_a_memory_is_named_by_the_end_of_its_iri(memento: Memento) -> None:
    (iri,) = memento.note("I live in Faro.").memories
    note = memento.recall("Where do I live?").memories[0].note

    assert note
    assert memento.get(iri[-8:]).iri == iri
    assert memento.get(note.iri[-12:]).iri == note.iri
    assert memento.forget(iri[-8:]).memories == (iri,)


def test_an_end_that_several_have_is_refused_with_their_names(memento: Memento) -> None:
    both = "urn:memento:entity:0192d5a0-0000-7000-8000-00000{}abcdef"
    (graph,) = memento.context.scope(None).memory_graphs
    for lead in ("a", "b"):
        said = f'<{both.format(lead)}> a mem:Entity ; mem:name "{lead}" ; mem:entityType mem:Person'
        memento.graphs.update(f"PREFIX mem: <http://purl.org/memento/> INSERT DATA {{ GRAPH <{graph}> {{ {said} }} }}")

    with pytest.raises(InputError, match=r"several IRIs: \S+aabcdef, \S+babcdef"):
        memento.get("abcdef")
    assert memento.get("babcdef").iri == both.format("b")


@pytest.mark.parametrize(("end", "status"), [("fffff0", 404), ("9d2f", 400), ("zzz", 400), ("", 400), ("my coat", 400)])
def test_an_end_that_none_has_is_no_iri_and_the_message_says_which_ends_there_are(
    memento: Memento, end: str, status: int
) -> None:
    told = (
        f"iri: '{end}' is neither an IRI nor the end of an IRI .* at least its last five characters, as lists show them"
    )
    with pytest.raises(NotFound, match=told) as refused:
        memento.get(end)
    assert refused.value.status == status
