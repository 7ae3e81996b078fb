"""Living memory over HTTP: every address, what it answers, and what it says of mistakes."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from memento.interfaces.web.app import create_app
from memento.python import Memento


@pytest.fixture
def web(memento: Memento) -> FlaskClient:
    return create_app(memento.service).test_client()


@pytest.fixture
def told(memento: Memento) -> list[str]:
    return [memento.note(text).memories[0] for text in ("I like tea.", "My cup is blue.")]


def at(iri: str, what: str) -> str:
    return f"/memory/{quote(iri, safe='')}/{what}"


def test_feedback_moves_the_numbers_of_a_memory(web: FlaskClient, told: list[str]) -> None:
    before = web.get(at(told[0], "strength")).get_json()
    after = web.post(at(told[0], "feedback"), json={"helped": True}).get_json()

    assert (before["importance"], before["usefulness"]) == (0.5, None)
    assert (after["importance"], after["usefulness"], after["success_count"]) == (0.52, 1.0, 1)
    assert web.get(at(told[0], "strength")).get_json()["success_count"] == 1


@pytest.mark.parametrize(
    "written", ["0.5", '"0.50"^^xsd:decimal', '"0.50"^^xsd:float', "5e-1"], ids=["bare", "decimal", "float", "double"]
)
def test_numbers_that_sparql_wrote_are_replaced_however_they_are_written(
    web: FlaskClient, memento: Memento, told: list[str], written: str
) -> None:
    head = "PREFIX mem: <http://purl.org/memento/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    tea, cup = told
    web.post("/memory/associations", json={"source": tea, "target": cup, "relation": "drunk from", "weight": 0.8})
    changed = web.post(
        "/sparql/update",
        data=f"{head} INSERT {{ GRAPH ?g {{ <{tea}> mem:importance {written} . ?link mem:weight {written} }} }} "
        "USING NAMED <urn:memento:graph:local:main> "
        "WHERE { GRAPH ?g { ?link a mem:Association } } ; "
        f"{head} DELETE {{ GRAPH ?g {{ ?link mem:weight ?old }} }} USING NAMED <urn:memento:graph:local:main> "
        "WHERE { GRAPH ?g { ?link a mem:Association ; mem:weight ?old FILTER (?old > 0.7) } }",
        content_type="application/sparql-update",
    )
    before = web.get(at(tea, "strength")).get_json()
    after = web.post(at(tea, "feedback"), json={"helped": True}).get_json()
    again = web.post("/memory/associations", json={"source": tea, "target": cup, "relation": "drunk from"}).get_json()
    values = web.post(
        "/sparql",
        data=head + f"SELECT ?value {{ {{ <{tea}> mem:importance|mem:energy ?value }} UNION "
        "{ ?link a mem:Association ; mem:weight ?value } }",
        content_type="application/sparql-query",
        headers={"Accept": "application/sparql-results+json"},
    ).get_json()

    assert changed.status_code == 200, changed.get_data(as_text=True)
    assert (before["importance"], after["importance"], after["energy"]) == (0.5, 0.52, 0.55)
    assert sorted(float(row["value"]["value"]) for row in values["results"]["bindings"]) == sorted(
        [0.52, 0.55, again["weight"]]
    )
    assert memento.admin.check() == ()


def test_a_link_is_drawn_followed_and_carries_activation(web: FlaskClient, told: list[str]) -> None:
    tea, cup = told
    link = {"source": tea, "target": cup, "relation": "drunk from", "weight": 0.8}
    made = web.post("/memory/associations", json=link)
    [path] = web.get(at(tea, "trace")).get_json()
    active = {one["memory"]: one for one in web.post("/memory/activate", json={"seeds": [tea]}).get_json()}

    assert (made.status_code, made.get_json()["weight"]) == (201, 0.8)
    assert (path["memories"], path["relations"]) == ([tea, cup], ["drunk from"])
    assert path["contents"] == [active[tea]["content"], active[cup]["content"]]
    assert active[tea]["activation"] == 1 >= active[cup]["activation"] > 0.5


def test_energies_fade_and_what_has_none_is_archived_and_brought_back(web: FlaskClient, told: list[str]) -> None:
    faded = web.post("/memory/decay", json={"half_life_days": 14}).get_json()
    foreseen = web.post("/memory/archive", json={"dry_run": True}).get_json()

    assert faded["half_life"] == 14
    assert foreseen == {"memories": [], "dry_run": True, "contents": {}}
    assert web.post("/memory/archive", json={}).get_json() == {"memories": [], "dry_run": False, "contents": {}}
    assert web.post(at(told[0], "unarchive"), json={}).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/memory/associations", {"source": "urn:a"}, 400, "target"),
        ("/memory/associations", {"source": "urn:a", "target": "urn:b", "weight": "heavy"}, 400, "weight"),
        ("/memory/associations", {"source": "urn:a", "target": "urn:b"}, 404, "no current memory <urn:a>"),
        ("/memory/activate", {}, 400, "seeds is missing"),
        ("/memory/activate", {"seeds": []}, 400, "at least one memory"),
        ("/memory/activate", {"seeds": ["urn:a"], "speed": 3}, 400, "speed"),
        ("/memory/decay", {"half_life_days": -1}, 400, "above 0, not -1"),
        (at("urn:a", "feedback"), {}, 400, "helped is missing"),
        (at("urn:a", "feedback"), {"helped": "yes"}, 400, "helped"),
        (at("urn:a", "feedback"), {"helped": True}, 404, "<urn:a>"),
        (at("urn:a", "unarchive"), {}, 404, "<urn:a> is archived"),
    ],
)
def test_mistakes_are_told_by_name(web: FlaskClient, path: str, body: dict[str, Any], status: int, says: str) -> None:
    answer = web.post(path, json=body)

    assert answer.status_code == status
    assert says in answer.get_json()["error"]["message"]
