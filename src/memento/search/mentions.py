"""
The names in the texts of new memories, written as edges of the graph.

*Flow:* a memory about to be written → `aliases` (what it is about) and `read_names` (what else it mentions) → an anchor for each
name → `mem:about` and `mem:mentions`, which `links` ranks by.

*Guarantees:* a name has one anchor in a namespace: what the memory is already about, else the one entity that has the name there,
else a `mem:Name`, whose IRI derives from the name. A memory gets its edges once, when it is written; an edge that is removed later
is not restored.

*But:* names are recognised by their capitals, so a script without capitals has none. A turn of a conversation gets no edges from
its text: its first words are not a subject, and names in conversation mislead (docs/measurements.md).

*Because:* a `mem:Name` is not an entity: nobody said what it is, and the list of entities would be full of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memento.graph.mapping import statements
from memento.iris import IRI, MEM, TYPE, name_iri
from memento.model import Change, Quad, Value
from memento.search.index import Context
from memento.search.labels import Labels
from memento.search.links import GraphLinks, read_labels
from memento.search.names import NameWords, is_everyday, is_telling, label_of, read_names
from memento.search.nodes import Record
from memento.search.subjects import aliases
from memento.text.sentences import prose, sentences

MOST = 100
"""Maximum number of names that a memory mentions by its text, the first ones; a long list links nothing."""
SURE = 0.7
"""The weight from which on an alias names the text's subject rather than something next to it."""

_MARKUP = "\n`*#"
_USER = "urn:memento:user:"

Said = Mapping[IRI, Sequence[Value]]


class MentionWriter:
    """Finds the edges of memories that are written together."""

    def __init__(self, indexes: Context, described: Mapping[IRI, Said], graphs: Mapping[IRI, IRI]) -> None:
        """
        Args:
            described: statements about other nodes that are written with the memories.
            graphs: the graph of each of these nodes.
        """
        self._indexes = indexes
        self._labels: dict[IRI, set[str]] = {}
        self._named: dict[tuple[IRI, str], IRI] = {}
        self._graphs = graphs
        self._written: set[IRI] = set()
        for iri, said in described.items():
            if MEM.Entity in said.get(TYPE, ()):
                self._labels[iri] = set(read_labels(Record(iri, graphs[iri], said)))
                self._named |= {(graphs[iri], label): iri for label in self._labels[iri]}

    def link_mentions(self, memory: IRI, graph: IRI, said: Said) -> list[Quad]:
        """Return the edges of a memory by its text, and the quads of the new anchors that they need."""
        content, title = (str(next(iter(said.get(predicate, ())), "")) for predicate in (MEM.content, MEM.title))
        text = "\n".join(prose(content)) if any(sign in content for sign in _MARKUP) else content
        read = read_names(f"{title}. {text}" if title else text)
        names = read.spans
        own = {
            label: iri
            for iri in said.get(MEM.about, ())
            if isinstance(iri, IRI) and not iri.startswith(_USER)
            for label in self._labels_of(iri)
        }
        quads: list[Quad] = []
        guessed = [(label_of(name), weight) for name, weight in aliases(text, title or None)]
        guessed = [
            (label, weight) for label, weight in guessed if is_telling(label) and (title or not is_everyday(label))
        ]
        chief = next(iter(said.get(MEM.subject, ())), None)
        # A sentence about a known anchor has its subject already; a longer text is about what it begins with.
        is_sentence = bool(said.get(MEM.about)) and len(sentences(text)) < 2
        if chief is None and guessed and guessed[0][1] >= SURE and (guessed[0][0] in own or not is_sentence):
            chief = next((own[label] for label, weight in guessed if weight >= SURE and label in own), None)
            if chief is None:
                label = guessed[0][0]
                chief, new = self._resolve(label, names.get(label) or find_spelling(label, content), graph)
                own[label] = chief
                quads += [*new, (memory, MEM.about, chief, graph)]
            quads.append((memory, MEM.subject, chief, graph))
        if isinstance(chief, IRI) and chief in own.values():
            for label in dict.fromkeys(label for label, _ in guessed if own.get(label) != chief):
                # A separate name: that something else has this label does not make the two the same.
                own[label], new = self._mint(label, names.get(label) or find_spelling(label, content), graph)
                quads += [*new, (memory, MEM.about, own[label], graph)]
        links = self._indexes[GraphLinks]
        known = links[graph].find_subjects(read) if graph in links else ()
        for label in list(dict.fromkeys([*names, *sorted(known)]))[:MOST]:
            if label not in own and not is_everyday(label):
                iri, new = self._resolve(label, names.get(label) or find_spelling(label, content), graph)
                quads += [*new, (memory, MEM.mentions, iri, graph)]
        return list(dict.fromkeys(quads))

    def _resolve(self, label: str, name: str, graph: IRI) -> tuple[IRI, list[Quad]]:
        """Return the anchor that has a label in a graph, and the quads of a name that is new there."""
        known = self._named.get((graph, label))
        if known is None:
            nodes = self._indexes[Labels].find_exact(name, [graph])
            if len(nodes) != 1:
                return self._mint(label, name, graph)
            known = self._named[graph, label] = self._indexes.nodes.iri(nodes[0])
        return known, []

    def _mint(self, label: str, name: str, graph: IRI) -> tuple[IRI, list[Quad]]:
        """Return the `mem:Name` for a label in a graph, and its quads if it is new."""
        iri = name_iri(graph, label)
        if iri in self._written or iri in self._indexes[GraphLinks].anchors:
            return iri, []
        self._written.add(iri)
        self._labels[iri] = {label}
        return iri, [(iri, TYPE, MEM.Name, graph), (iri, MEM.name, name, graph)]

    def _labels_of(self, iri: IRI) -> set[str]:
        """Return the labels of an anchor."""
        labels = self._labels.get(iri)
        if labels is None:
            anchors = self._indexes[GraphLinks].anchors
            labels = self._labels[iri] = set(anchors.labels(anchors.number(iri))) if iri in anchors else set()
        return labels


def find_mentions(change: Change, indexes: Context) -> Change:
    """Return the edges by text of the memories that a change creates, and the quads of the new anchors that they need."""
    made = {
        subject: graph for subject, predicate, value, graph in change.adds if predicate == TYPE and value == MEM.Memory
    }
    if not made:
        return Change()
    described = statements(change.adds)
    writer = MentionWriter(indexes, described, {subject: graph for subject, _, _, graph in change.adds})
    adds: list[Quad] = []
    for memory, graph in made.items():
        said = described[memory]
        note = next(iter(said.get(MEM.extractedFrom, ())), None)
        if isinstance(note, IRI) and not (MEM.session in described.get(note, ()) or indexes.turn_places.get(note)):
            adds += writer.link_mentions(memory, graph, said)
    return Change(tuple(adds))


def is_fragment(name: str, read: NameWords) -> bool:
    """
    Return whether a name occurs in a text only as a part of longer names.

    >>> read = read_names("The County of Lippe is near Bonn.")
    >>> is_fragment("Lippe", read), is_fragment("Bonn", read), is_fragment("vim", read)
    (True, False, False)
    """
    label = label_of(name)
    return label not in read.spans and any(f" {label} " in f" {span} " for span in read.spans)


def find_spelling(label: str, text: str) -> str:
    """
    Return a label as the text spells it, or the label itself if the text does not contain it.

    >>> find_spelling("ed wood", "The film Ed Wood is long."), find_spelling("ed wood", "Ed D. Wood")
    ('Ed Wood', 'ed wood')
    """
    begin = text.casefold().find(label)
    spelled = text[begin : begin + len(label)]
    return spelled if begin >= 0 and label_of(spelled) == label else label
