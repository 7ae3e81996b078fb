"""Links depend on what is there, not on how it came; signals follow their formulas."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memento.iris import IRI
from memento.search.links import (
    RARE,
    Anchors,
    Joined,
    Links,
    Values,
    link_signal,
    shared_signal,
    subject_signal,
    tie_signal,
)
from memento.search.names import find_longest, is_telling, label_of, read_names
from memento.search.postings import Postings, tokens
from memento.search.subjects import aliases

State = dict[str, tuple[frozenset[int], dict[int, float]]]

FILM = "Ed Wood is a film by Tim Burton."
BURTON = "Tim Burton is a director from Burbank."
BURBANK = "Burbank is a city in California."
TEA = "Tea is a drink."


Edges = tuple[dict[IRI, float], list[IRI]]


def edges_of(text: str, anchors: Anchors, extra: tuple[str, ...] = ()) -> Edges:
    """The edges that a text would get: a name for each label, about what it begins with and `extra`, mentioning the rest."""
    about = {label_of(name): weight for name, weight in aliases(text, None) if is_telling(label_of(name))}
    about = dict.fromkeys(map(label_of, extra), 0.6) | about
    labels = [*about, *read_names(text).spans]
    for label in labels:
        anchors.put(IRI(f"urn:{label}"), {label: 1.0})
    return {IRI(f"urn:{label}"): weight for label, weight in about.items()}, [IRI(f"urn:{label}") for label in labels]


def put(links: Links, node: int, text: str, extra: tuple[str, ...] = ()) -> None:
    links.put(node, *edges_of(text, links.anchors, extra))


def links_of(*texts: str) -> Links:
    links = Links(Anchors())
    for node, text in enumerate(texts):
        put(links, node, text)
    return links


def words_of(*texts: str) -> Postings:
    postings = Postings()
    for node, text in enumerate(texts):
        postings.add(node, text)
    return postings


def state(links: Links) -> State:
    labels = {label for node in range(10) for label in links.mentions(node)}
    entities = {label: entity for label in labels if (entity := links.entity(label))}
    return {label: (frozenset(e.mentions().tolist()), dict(e.subject_of)) for label, e in entities.items()}


def values(found: Values) -> dict[int, float]:
    nodes, strengths = found
    assert nodes.dtype == np.int32
    assert strengths.dtype == np.float32
    assert nodes.tolist() == sorted(set(nodes.tolist()))
    return dict(zip(nodes.tolist(), strengths.tolist(), strict=True))


def seeds(*goodness: tuple[int, float]) -> Values:
    return np.array([node for node, _ in goodness], dtype=np.int32), np.array(
        [g for _, g in goodness], dtype=np.float32
    )


def idf(n: int, df: int) -> float:
    return log((n + 1) / (df + 1)) / log(n + 1)


ALL = np.ones(10, dtype=np.bool_)


def test_names_are_capitalised_spans_and_years() -> None:
    found = read_names(
        "However, J. K. Rowling moved to the Isle of Man in 1999; The Guardian's Anna-Maria told Bob. Carl left."
    )

    assert set(found.spans) == {"j k rowling", "isle of man", "1999", "guardian", "anna maria", "bob", "carl"}


def test_an_office_is_no_part_of_the_name_that_it_belongs_to() -> None:
    found = read_names("The Prime Minister of the Westlands met the Governor of the Bank of Norland.")

    assert set(found.spans) == {"westlands", "bank of norland"}


def test_the_longest_known_label_wins_and_uses_up_its_words() -> None:
    known = {"new york", "york", "new york city council", "city"}
    limits = {"new": 4, "york": 1, "city": 1}

    found = find_longest(("new", "york", "city", "hall"), [0, 1, 2, 3], limits, known.__contains__)

    assert found == {"new york", "city"}


def test_what_a_memory_is_about_is_a_mention_too() -> None:
    links = Links(Anchors())
    links.anchors.put(IRI("urn:acme"), {"acme corp": 1.0})
    links.put(1, {IRI("urn:acme"): 0.8}, [])

    entity = links.entity("acme corp")
    assert entity is not None
    assert entity.subject_of == {1: 0.8}
    assert links.mentions(1) == {"acme corp"}


def test_an_anchor_that_is_called_something_else_is_found_by_that_alone() -> None:
    links = links_of(FILM, TEA)
    links.anchors.put(IRI("urn:ed wood"), {"the film": 1.0})

    assert links.entity("ed wood") is None
    assert Joined([links]).find_names("Who made The Film?") == ["the film"]


def test_two_anchors_of_one_name_are_one_name() -> None:
    links = Links(Anchors())
    for iri in ("urn:1", "urn:2"):
        links.anchors.put(IRI(iri), {"anna": 1.0})
    links.put(1, {IRI("urn:1"): 1.0}, [])
    links.put(2, {IRI("urn:2"): 1.0}, [IRI("urn:1")])

    entity = links.entity("anna")
    assert entity is not None
    assert (entity.df, entity.about, entity.subject_of) == (2, 2, {1: 1.0, 2: 1.0})


def test_a_turn_is_walked_to_but_gives_no_signal() -> None:
    links = links_of(FILM)
    links.put(1, {}, [IRI("urn:ed wood")], is_turn=True)

    assert links.mentions(1) == set()
    assert values(tie_signal(seeds((0, 1.0)), Joined([links]), ALL)) == {}
    assert sorted(links.mentioning(links.anchors.number(IRI("urn:ed wood"))).tolist()) == [0, 1]


def test_dropping_what_is_not_there_is_harmless() -> None:
    links = links_of(FILM)
    links.drop(7)
    links.drop(0)
    links.drop(0)

    assert (len(links), state(links)) == (0, {})


def test_a_question_names_the_longest_known_labels() -> None:
    joined = Joined([links_of(FILM, BURTON, BURBANK, TEA, "Wood is a material.")])

    assert joined.find_names("Was Ed Wood shot in Burbank?") == ["ed wood", "burbank"]
    assert joined.find_names("was ed wood shot in burbank?") == ["ed wood"]
    assert joined.find_names("Which tea?") == ["tea"]
    assert joined.find_names("what is it?") == []


def test_a_subject_asked_for_is_worth_its_idf_by_the_number_of_those_who_share_it() -> None:
    joined = Joined([links_of("Mercury is a planet.", "Mercury is a metal.", BURTON, TEA)])

    found = values(subject_signal(["mercury"], joined, ALL))

    assert found == pytest.approx({0: idf(4, 2) / 2, 1: idf(4, 2) / 2})


def test_a_subject_seen_by_nobody_has_no_value_but_still_shares() -> None:
    joined = Joined([links_of("Mercury is a planet.", "Mercury is a metal.", BURTON, TEA)])
    visible = ALL.copy()
    visible[0] = False

    assert values(subject_signal(["mercury"], joined, visible)) == pytest.approx({1: idf(4, 2) / 2})


def test_a_seed_leads_to_those_it_mentions_not_to_itself() -> None:
    joined = Joined([links_of(FILM, BURTON, BURBANK, TEA)])

    found = values(link_signal(seeds((0, 1.0), (1, 0.5)), joined, ALL))

    # Tim Burton stands in 0 and 1, Burbank in 1 and 2; the second seed is half as good, squared.
    assert found == pytest.approx({1: idf(4, 2), 2: 0.25 * idf(4, 2)})


def test_what_a_seed_says_of_one_memory_adds_up() -> None:
    links = links_of("Bob met Ada Byron, the Countess.", TEA, "Salt is white.")
    put(links, 3, "They live there.", ("Ada Byron", "Bob"))
    joined = Joined([links])

    # Ada Byron is the subject of 3 alone, Bob of 0 too.
    assert values(link_signal(seeds((0, 1.0)), joined, ALL))[3] == pytest.approx(idf(4, 2) * (0.6 / 1 + 0.6 / 1.6))


def test_a_shared_name_counts_by_the_words_that_the_seed_leaves_open() -> None:
    texts = [FILM, BURTON, BURBANK, TEA]
    joined, postings = Joined([links_of(*texts)]), words_of(*texts)

    found = values(shared_signal(seeds((0, 0.5)), "film of which director, and what drink", joined, [postings], ALL))

    # The seed has "film"; of "director" and "drink", equally rare, the memory that shares Tim Burton has one.
    assert found == pytest.approx({1: 0.25 * idf(4, 2) ** 2 * 0.5})


def test_nothing_is_shared_when_the_seed_covers_the_question() -> None:
    texts = [FILM, BURTON, TEA]

    assert values(shared_signal(seeds((0, 1.0)), "film", Joined([links_of(*texts)]), [words_of(*texts)], ALL)) == {}


def test_two_graphs_are_read_as_one() -> None:
    anchors = Anchors()
    mine, shared = Links(anchors), Links(anchors)
    put(mine, 0, FILM)
    put(shared, 1, BURTON)
    put(mine, 3, TEA)
    put(shared, 2, BURBANK)
    postings = words_of(FILM, BURTON, BURBANK, TEA)
    both, one = Joined([mine, shared]), Joined([links_of(FILM, BURTON, BURBANK, TEA)])
    start, question = seeds((0, 1.0)), "Who is the director of Ed Wood?"

    assert both.find_names(question) == one.find_names(question) == ["ed wood"]
    for found, expected in (
        (subject_signal(["tim burton"], both, ALL), subject_signal(["tim burton"], one, ALL)),
        (link_signal(start, both, ALL), link_signal(start, one, ALL)),
        (
            shared_signal(start, question, both, [postings], ALL),
            shared_signal(start, question, one, [postings], ALL),
        ),
    ):
        assert values(found) == pytest.approx(values(expected))
        assert values(found)


def test_empty_graphs_and_no_seeds_say_nothing() -> None:
    for joined in (Joined([]), Joined([Links(Anchors())])):
        assert joined.find_names("Who is Ed Wood?") == []
        assert values(subject_signal(["ed wood"], joined, ALL)) == {}
        assert values(link_signal(seeds(), joined, ALL)) == {}
        assert values(shared_signal(seeds((3, 1.0)), "Ed Wood", joined, [Postings()], ALL)) == {}


NAMES = [
    "Ada",
    "Ada Byron",
    "Byron",
    "New York",
    "New York City",
    "York",
    "City",
    "1999",
    "Faro",
    "The Faro",
    "ada",
    "of",
    "said",
]
texts = st.lists(st.sampled_from([*NAMES, "is a", ",", ". "]), max_size=8).map(" ".join)
steps = st.lists(
    st.tuples(st.integers(0, 5), st.none() | texts, st.sampled_from([(), ("Ada",), ("New York",)])), max_size=14
)


@given(steps)
def test_the_state_is_that_of_what_is_there_built_in_any_order(
    steps: list[tuple[int, str | None, tuple[str, ...]]],
) -> None:
    links, there = Links(Anchors()), dict[int, tuple[str, tuple[str, ...]]]()
    for node, text, extra in steps:
        there.pop(node, None)
        if text is None:
            links.drop(node)
        else:
            put(links, node, text, extra)
            there[node] = (text, extra)

    scratch = Links(Anchors())
    for node, (text, extra) in sorted(there.items(), reverse=True):
        put(scratch, node, text, extra)
    assert state(links) == state(scratch)
    for node in there:
        assert links.mentions(node) == scratch.mentions(node)
        assert links.mentions(node) == {label for label, (nodes, _) in state(links).items() if node in nodes}


@given(st.lists(texts, min_size=1, max_size=8), texts, st.lists(st.booleans(), min_size=8, max_size=8))
def test_signals_equal_their_formulas(content: list[str], question: str, seen: list[bool]) -> None:
    joined, postings = Joined([links_of(*content)]), words_of(*content)
    visible = np.array(seen)
    start = seeds(*[(node, 1.0 / (1 + node)) for node in range(min(len(content), 3))])
    names = joined.find_names(question)

    assert values(subject_signal(names, joined, visible)) == pytest.approx(by_hand_subject(names, joined, visible))
    assert values(link_signal(start, joined, visible)) == pytest.approx(by_hand_link(start, joined, visible), rel=1e-5)
    shared = values(shared_signal(start, question, joined, [postings], visible))
    assert shared == pytest.approx(by_hand_shared(start, question, joined, content, visible), rel=1e-4)
    assert values(tie_signal(start, joined, visible)) == pytest.approx(by_hand_tie(start, joined, visible), rel=1e-5)


def test_a_rare_name_ties_memories_that_share_no_word_of_the_question() -> None:
    texts = ["Ruby Loftus is a painting by Laura Knight.", "Staithes drew Laura Knight and her husband."]
    joined = Joined([links_of(*texts, *["Faro is a town."] * 100)])

    assert list(values(tie_signal(seeds((0, 1.0)), joined, np.ones(200, dtype=np.bool_)))) == [1]


def test_a_name_that_many_have_ties_nothing() -> None:
    towns = ["Faro is a town." for _ in range(500)]
    knights = [f"House {n} belongs to Laura Knight." for n in range(RARE + 1)]
    everyone = np.ones(600, dtype=np.bool_)

    assert len(values(tie_signal(seeds((0, 1.0)), Joined([links_of(*knights[1:], *towns)]), everyone))) == RARE - 1
    assert values(tie_signal(seeds((0, 1.0)), Joined([links_of(*knights, *towns)]), everyone)) == {}


def share_of(label: str, node: int, joined: Joined) -> float:
    """idf · w / W, from the entities themselves."""
    weights: dict[int, float] = {}
    for entity in joined.name(label).entities:
        weights |= entity.subject_of
    return joined.name(label).idf * weights.get(node, 0.0) / max(1.0, sum(weights.values()))


def by_hand_subject(names: list[str], joined: Joined, visible: NDArray[np.bool_]) -> dict[int, float]:
    best = {
        node: max((share_of(name, node, joined) for name in names), default=0.0)
        for node in np.flatnonzero(visible).tolist()
    }
    return {node: value for node, value in best.items() if value > 0}


def by_hand_link(start: Values, joined: Joined, visible: NDArray[np.bool_]) -> dict[int, float]:
    best: dict[int, float] = {}
    for seed, g in zip(start[0].tolist(), start[1].tolist(), strict=True):
        for node in set(np.flatnonzero(visible).tolist()) - {seed}:
            value = g * g * sum(share_of(label, node, joined) for label in joined.mentions(seed))
            best[node] = max(best.get(node, 0.0), value)
    return {node: value for node, value in best.items() if value > 0}


def by_hand_tie(start: Values, joined: Joined, visible: NDArray[np.bool_]) -> dict[int, float]:
    best: dict[int, float] = {}
    for seed, g in zip(start[0].tolist(), start[1].tolist(), strict=True):
        for node in set(np.flatnonzero(visible).tolist()) - {seed}:
            common = [joined.name(one) for one in joined.mentions(seed) & joined.mentions(node) if joined.is_tie(one)]
            value = g * g * min(1.0, sum(name.idf**2 for name in common if name.df <= RARE))
            best[node] = max(best.get(node, 0.0), value)
    return {node: value for node, value in best.items() if value > 0}


def by_hand_shared(
    start: Values, question: str, joined: Joined, content: list[str], visible: NDArray[np.bool_]
) -> dict[int, float]:
    words = [set(tokens(text)) for text in content]
    df = {term: sum(term in own for own in words) for term in tokens(question)}
    weight = {term: log(1 + (len(words) - n + 0.5) / (n + 0.5)) for term, n in df.items() if n}
    best: dict[int, float] = {}
    for seed, g in zip(start[0].tolist(), start[1].tolist(), strict=True):
        open_words = {term: idf for term, idf in weight.items() if term not in words[seed]}
        for node in set(range(len(content))) & set(np.flatnonzero(visible).tolist()):
            names = [joined.name(label) for label in joined.mentions(seed) & joined.mentions(node)]
            tie = min(1.0, sum(name.idf**2 for name in names if name.df <= 2))  # 3 % of so few is less than 2
            covered = sum(idf for term, idf in open_words.items() if term in words[node])
            if tie > 0 and covered > 0:
                best[node] = max(best.get(node, 0.0), g * g * tie * covered / sum(open_words.values()))
    return best


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    found = read_names(text)

    assert all(start < len(found.words) for start in found.starts)
    assert all(" " not in word and word for word in found.words)
    assert label_of(label_of(text)) == label_of(text) or not text.isascii()


@settings(max_examples=50)
@given(
    st.dictionaries(st.integers(0, 5), st.tuples(texts, st.sampled_from([(), ("Ada",), ("New York",)])), max_size=6),
    steps,
)
def test_many_at_once_are_what_they_are_one_by_one(
    first: dict[int, tuple[str, tuple[str, ...]]], later: list[tuple[int, str | None, tuple[str, ...]]]
) -> None:
    one_by_one, filled = Links(Anchors()), Links(Anchors())
    for node, (text, extra) in first.items():
        put(one_by_one, node, text, extra)
    rows = [(node, edges_of(text, filled.anchors, extra)) for node, (text, extra) in first.items()]
    filled.fill((node, *edges, False) for node, edges in rows)
    kept = restored(filled)
    for links in (one_by_one, filled, kept):
        for node, changed, extra in later:
            links.drop(node) if changed is None else put(links, node, changed, extra)

    for links in (filled, kept, restored(kept)):
        assert state(links) == state(one_by_one)
        assert all(links.mentions(node) == one_by_one.mentions(node) for node in range(6))


def restored(links: Links) -> Links:
    anchors = Anchors()
    anchors.restore(links.anchors.arrays())
    return Links(anchors).restore(links.arrays())
