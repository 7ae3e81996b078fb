"""Tags that a text earns by its words: each sign by its example, and the eight tags that are published."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from memento import assets
from memento.iris import MEM, tag_iri
from memento.text.tables import Entry
from memento.text.tags import TagRow, sort_by_rules, tag_rows

SAMPLES = {
    "decision": "USER decided against the lease.",
    "code": "The parser is in src/read.py now.",
    "error": "It raises a TypeError on Mondays.",
    "architecture": "Billing is a microservice since May.",
    "config": "The time zone stands in settings.toml.",
    "dependency": "Run pip install flask first.",
    "todo": "USER has to renew the passport.",
    "conversation": "USER likes tea.",
}


@pytest.mark.parametrize("entry", tag_rows(), ids=lambda entry: entry.row.name)
def test_a_sign_gives_its_tag_to_its_example_and_no_other_sign_does(entry: Entry[TagRow]) -> None:
    text, tag = entry.row.example
    others = [other for other in tag_rows() if other is not entry]

    mode = entry.row.only or "on"
    assert tag == entry.row.tag
    assert tag in sort_by_rules(text, mode)
    assert tag not in sort_by_rules(text, mode, rows=others)
    assert not entry.pattern.search(entry.row.counter)
    assert any(word in text.lower() for word in entry.row.hint.split())


@pytest.mark.parametrize(("tag", "text"), SAMPLES.items())
def test_each_of_the_eight_tags_is_given_to_a_text_of_its_kind(tag: str, text: str) -> None:
    assert sort_by_rules(text, "published") == (tag,)


def test_what_no_sign_tells_of_has_no_tag_unless_as_published() -> None:
    assert sort_by_rules(SAMPLES["conversation"]) == ()
    assert sort_by_rules(SAMPLES["decision"], "off") == ()


@pytest.mark.parametrize(
    "text",
    [
        "USER has not decided yet.",
        "USER studies architecture in Porto.",
        "USER failed the driving test.",
        "The house is in the USA.",
        "It is ~3.5 km to the lake, which is > 2 miles.",
        "The key is [REDACTED:AWS_KEY].",
        "The architecture is Gothic, because the service was good.",
        "Wir haben uns nicht für Oslo entschieden.",
        "Die Architektur ist gotisch, weil der Fehler so war.",
    ],
)
def test_a_text_that_only_looks_like_it_has_no_tag(text: str) -> None:
    assert sort_by_rules(text) == ()


WORDS = {
    "code": [
        "~~~",
        "see a.rs",
        "see a.go",
        "see b/C.java",
        "see a.tsx",
        "see a.sql",
        "async function go(",
        "class Box(",
        "func x(",
    ],
    "error": [
        "a stacktrace",
        "the Traceback",
        "a segfault",
        "a core dump",
        "the error code",
        "a KeyException",
        "CI was failing",
        "the deploy crashed",
        "unit tests is failing",
        "the pipeline keeps failing",
        "the compiler fails",
    ],
    "decision": [
        "Ana chose oak",
        "we opted for tea",
        "they agreed to go",
        "Decision: wait",
        "our decision was made",
        "a trade-off",
    ],
    "architecture": [
        "a monolith",
        "a design pattern",
        "the system architecture",
        "a client-server split",
        "an event bus",
        "the caching module",
        "a data component",
        "the access interface",
        "the domain layer",
        "the persistence layer",
    ],
    "config": [
        "set $HOME_DIR",
        "an environment variable",
        "in app.yaml",
        "in app.ini",
        "in tsconfig.json",
        "a .env file",
        "a feature flag",
    ],
    "dependency": [
        "pnpm add x",
        "yarn upgrade x",
        "uv add x",
        "cargo update",
        "poetry add x",
        "brew install x",
        '"x": "^1.2"',
        "use @babel/core",
        "a dependency on flask",
        "upgrading numpy to version 2.1",
    ],
    "todo": ["TODO: rest", "a HACK", "- [ ] pack", "USER needs to call", "we still have to call", "USER should call"],
}


GERMAN = {
    "decision": [
        "Sie hat es beschlossen",
        "Es wurde so entschieden",
        "Ich habe entschieden",
        "Ana entschied sich für Tee",
        "Sie entschieden sich gegen Oslo",
        "Wir entschieden uns für Tee",
        "Ich entschied mich für Rom",
        "Entscheidung: warten",
    ],
    "error": [
        "eine Fehlermeldung",
        "die Fehlermeldungen",
        "ein Fehlercode",
        "das Fehlerprotokoll",
        "ein Laufzeitfehler",
        "Der Build schlägt fehl",
        "Das Deployment schlug fehl",
        "CI ist fehlgeschlagen",
        "Der Compiler schlägt fehl",
    ],
    "architecture": [
        "die Softwarearchitektur",
        "eine Systemarchitektur",
        "ein Entwurfsmuster",
        "die Dienstschicht",
        "die Speicherschicht",
        "die Anwendungsschicht",
        "die Zugriffsschicht",
        "die Präsentationsschicht",
    ],
    "config": ["Konfigurationen", "eine Konfigurationsdatei", "eine Umgebungsvariable", "drei Umgebungsvariablen"],
    "dependency": ["auf die Version 3 gehoben", "auf Version v3 gehoben"],
    "todo": [
        "Wir müssen noch streichen",
        "Ich sollte unbedingt anrufen",
        "wir sollten noch üben",
        "USER muss noch packen",
        "Das ist noch zu erledigen",
    ],
}
PUBLISHED = {
    "code": [
        "a def f(",
        "a function f(",
        "an fn f(",
        "a func f(",
        "the class A:",
        "an interface A {",
        "the struct A {",
        "an enum A {",
        "let a = 1",
        "var a = 1",
    ],
    "error": ["Errors happen", "an exception", "the Fehler", "mit Fehlern"],
    "decision": ["tea instead of milk", "a new approach", "weil es schneit", "anstelle von Tee", "der Ansatz"],
    "architecture": [
        "a component",
        "the module",
        "a service",
        "the layer",
        "an interface",
        "a pattern",
        "the architecture",
        "zwei Komponenten",
        "zwei Module",
        "eine Schicht",
        "die Schnittstelle",
        "die Architektur ist hexagonal",
    ],
    "config": ["a setting", "die Einstellungen"],
    "dependency": ["installs it", "npm runs", "yarn runs", "upgrade it", "wird installiert", "zu installieren"],
    "todo": ["USER needed to go", "it must rain", "es muss sein", "sie müssen gehen", "es sollte gehen"],
}


@pytest.mark.parametrize(
    ("tag", "text"), [(tag, text) for words in (WORDS, GERMAN) for tag, texts in words.items() for text in texts]
)
def test_no_word_of_a_sign_is_taken_out_unnoticed(tag: str, text: str) -> None:
    assert tag in sort_by_rules(text)


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in PUBLISHED.items() for text in texts])
def test_a_broad_sign_of_the_published_design_gives_its_tag_where_the_setting_says_so(tag: str, text: str) -> None:
    assert tag in sort_by_rules(text, "published")
    assert sort_by_rules(text) == ()


def test_every_tag_of_the_rules_is_a_concept_of_the_vocabulary_with_its_meaning() -> None:
    store = ox.Store()
    store.load(assets.read("ontology/memento.ttl"), format=ox.RdfFormat.TURTLE)
    scheme = ox.NamedNode("http://www.w3.org/2004/02/skos/core#inScheme")
    known = {str(quad.subject)[1:-1] for quad in store.quads_for_pattern(None, scheme, ox.NamedNode(MEM.Tags))}

    assert known == {tag_iri(tag) for tag in SAMPLES}
    assert {entry.row.tag for entry in tag_rows()} == SAMPLES.keys() - {"conversation"}
