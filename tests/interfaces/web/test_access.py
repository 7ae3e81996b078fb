"""Every address and every role: who gets what, over a memory in which another tenant has a canary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from conftest import OFF, OFFLINE
from memento.access import Access
from memento.interfaces.web.app import create_app
from memento.operations import PLUGGED
from memento.operations import TABLE as OPERATIONS
from memento.python import Memento, open_memento
from memento.settings import ProxySettings
from memento.time import now

CANARY = "Quetzalcoatl"
ELSEWHERE = {"REMOTE_ADDR": "10.0.0.7"}

ROLES = ("nobody", "reader", "writer", "admin", "other")
"""No token; tokens of the tenant `local` with each right; a token of another tenant with every right."""

# Status by role, in the order of ROLES: the caller's own memory answers, what the caller may not do is 403.
READ = (401, 200, 200, 200, 200)
NOTE = (401, 403, 201, 200, 201)  # the second who says the same adds nothing
CARE = (401, 403, 403, 200, 403)

UPDATED = (401, 403, 200, 200, 403)
UPDATE = "INSERT DATA { GRAPH <urn:memento:data:local:x> { <urn:a> <urn:b> 1 } }"
DEFAULT = (401, 403, 403, 403, 403)
PATCHED = (401, 403, 204, 204, 204)
PATCH: dict[str, Any] = {"data": "INSERT DATA { <urn:a> <urn:b> 1 }", "content_type": "application/sparql-update"}
"""The graph of a namespace is neither replaced nor deleted without its name."""
TURTLE: dict[str, Any] = {"data": b"<urn:a> <urn:b> 1 .", "content_type": "text/turtle"}
RIVALS = "urn:memento:graph:rival:main"

TABLE: Mapping[tuple[str, str], tuple[tuple[int, ...], dict[str, Any]]] = {
    ("GET", "/"): (READ, {}),
    ("GET", "/health"): ((503,) * 5, {}),
    ("GET", "/health/ready"): ((503,) * 5, {}),
    ("GET", "/metrics"): (READ, {}),
    ("GET", "/memory"): (READ, {}),
    ("GET", "/memory/list"): (READ, {}),
    ("GET", "/memory/inferred"): (READ, {}),
    ("GET", "/memory/manifest"): (READ, {}),
    ("GET", "/map"): (READ, {}),
    ("GET", "/search"): (READ, {"query_string": {"q": "Where do I live?"}}),
    ("GET", "/timeline"): (READ, {}),
    ("GET", "/graph"): (READ, {}),
    ("GET", "/graph/data"): (READ, {}),
    ("GET", "/review"): (READ, {}),
    ("GET", "/prompts"): (CARE, {}),
    ("GET", "/tokens"): (CARE, {}),
    ("GET", "/system"): (READ, {}),
    ("GET", "/docs"): (READ, {}),
    ("GET", "/docs/<path:name>"): ((401, 404, 404, 404, 404), {}),
    # Published text: a stranger may read it, and learns nothing of the memory.
    ("GET", "/ontology"): ((200,) * 5, {}),
    ("GET", "/ontology/<path:name>"): ((404,) * 5, {}),
    ("POST", "/do/<name>"): ((401, 403, 403, 403, 403), {}),
    ("POST", "/sign-in"): ((401,) * 5, {}),
    ("GET", "/favicon.ico"): ((200,) * 5, {}),
    ("POST", "/sign-out"): ((401, 403, 403, 403, 403), {}),
    ("GET", "/static/pages/<version>/<name>"): ((404,) * 5, {}),
    ("POST", "/memory/sexpr"): ((401, 403, 200, 200, 200), {"json": {"expression": '(remember "USER likes tea.")'}}),
    ("GET", "/memory/entities"): (READ, {}),
    ("GET", "/memory/items"): (READ, {"query_string": {"query": "Lisbon"}}),
    ("GET", "/memory/items/<path:iri>"): ((401, 200, 200, 200, 404), {}),
    ("GET", "/memory/policies"): (READ, {}),
    ("POST", "/memory/policies/<path:name>"): ((401, 403, 200, 200, 200), {"json": {"expression": "(stats)"}}),
    ("GET", "/memory/openapi.json"): (READ, {}),
    ("GET", "/memory/status"): (READ, {}),
    ("GET", "/memory/timeline"): (READ, {"query_string": {"subject": "me"}}),
    ("GET", "/memory/check"): (CARE, {}),
    ("POST", "/memory/rebuild"): (CARE, {}),
    ("POST", "/memory/upgrade"): (CARE, {}),
    ("GET", "/memory/recall"): (READ, {"query_string": {"query": "Where do I live?"}}),
    ("POST", "/memory/notes"): (NOTE, {"json": {"content": "I live in Oslo."}}),
    ("POST", "/memory/import"): ((401, 403, 200, 200, 200), {"data": b'{"content": "I like tea."}'}),
    ("POST", "/memory/ingest"): ((401, 403, 403, 403, 403), {"json": {"file": "/etc/hostname"}}),
    ("POST", "/memory/adopt"): ((401, 403, 403, 403, 403), {"json": {"user_home": "/etc"}}),
    ("GET", "/memory/imports"): (READ, {}),
    ("POST", "/memory/imports/<path:iri>/undo"): ((401, 403, 404, 404, 404), {}),
    ("POST", "/memory/index"): ((401, 403, 403, 403, 403), {"json": {"folder": "/etc"}}),
    ("POST", "/memory/session"): (READ, {"json": {}}),
    ("POST", "/memory/session/summary"): ((401, 403, 404, 404, 404), {"json": {"session": "monday"}}),
    ("GET", "/memory/profile"): (READ, {}),
    ("POST", "/ask"): (READ, {"json": {"question": "Where do I live?"}}),
    ("POST", "/memory/files"): (
        (401, 403, 200, 200, 200),
        {"json": {"command": "create", "path": "/memories/tea.txt", "file_text": "I like tea."}},
    ),
    ("POST", "/memory/capture"): (
        (401, 403, 200, 200, 200),
        {"json": {"session": "s", "turns": [{"role": "user", "text": "I like tea."}]}},
    ),
    ("GET", "/memory/proposals"): (READ, {}),
    ("POST", "/memory/proposals/accept"): ((401, 403, 200, 200, 200), {"json": {"every": True}}),
    ("POST", "/memory/proposals/reject"): ((401, 403, 200, 200, 200), {"json": {"every": True}}),
    ("GET", "/memory/log"): (READ, {}),
    ("GET", "/context.jsonld"): (READ, {}),
    ("GET", "/memory/export"): (READ, {}),
    ("POST", "/memory/import/rdf"): (
        (401, 403, 200, 200, 200),
        {"query_string": {"format": "nquads"}, "data": b"<urn:a> <urn:b> <urn:c> <urn:memento:data:local:own> ."},
    ),
    ("POST", "/memory/backup"): ((401, 403, 403, 201, 403), {"json": {}}),
    ("POST", "/memory/migrate"): (CARE, {"json": {"dry_run": True}}),
    ("POST", "/memory/sync"): ((401, 403, 403, 403, 403), {"json": {"folder": "/tmp"}}),
    ("POST", "/memory/restore"): ((401, 403, 403, 404, 403), {"json": {}}),
    ("GET", "/memory/notes/<path:iri>/status"): ((401, 404, 404, 404, 404), {}),
    ("POST", "/memory/retry"): ((401, 403, 200, 200, 200), {}),
    # The second who corrects it so says what it says already.
    ("POST", "/memory/<path:iri>/correct"): ((401, 403, 201, 400, 404), {"json": {"content": "I live in Oslo."}}),
    ("POST", "/memory/<path:iri>/mark"): ((401, 403, 200, 200, 404), {"json": {"tags": ["home"]}}),
    ("GET", "/memory/tags"): (READ, {}),
    ("GET", "/memory/relations"): (READ, {"query_string": {"entity": "me"}}),
    ("POST", "/memory/forget"): ((401, 403, 404, 404, 404), {"json": {"tags": ["nowhere"]}}),
    ("GET", "/list"): (READ, {}),
    ("GET", "/export"): (READ, {}),
    ("POST", "/api/save"): ((401, 403, 201, 201, 201), {"json": {"content": "Tea is green."}}),
    ("POST", "/api/recall"): (READ, {"json": {"query": "Where do I live?"}}),
    ("POST", "/api/search"): (READ, {"json": {"query": "Where do I live?"}}),
    ("GET", "/api/list"): (READ, {}),
    ("GET", "/api/health"): (READ, {}),
    ("DELETE", "/api/<memory:rest>"): ((401, 403, 200, 200, 404), {}),
    ("POST", "/memory/<path:iri>/undo"): ((401, 403, 404, 404, 404), {}),
    ("POST", "/memory/<path:iri>/unforget"): ((401, 403, 404, 404, 404), {}),
    ("GET", "/memory/disputes"): (READ, {}),
    ("GET", "/memory/notes/waiting"): (READ, {}),
    ("GET", "/memory/neighbours"): (READ, {"query_string": {"nodes": "me"}}),
    ("GET", "/memory/path"): (READ, {"query_string": {"start": "me", "end": "me"}}),
    ("POST", "/memory/store/probe"): (
        (401, 403, 403, 403, 403),
        {"json": {"query_url": "http://127.0.0.1:9/", "update_url": "http://127.0.0.1:9/"}},
    ),
    ("GET", "/memory/tenants"): (CARE, {}),
    ("GET", "/memory/tokens"): (CARE, {}),
    ("POST", "/memory/tokens"): ((401, 403, 403, 403, 403), {"json": {"name": "phone"}}),
    ("DELETE", "/memory/tokens/<path:name>"): ((401, 403, 403, 404, 403), {}),
    ("POST", "/memory/<path:kept>/settle"): ((401, 403, 404, 404, 404), {"json": {"ended": "urn:memento:memory:none"}}),
    ("GET", "/memory/<path:iri>/sources"): ((401, 200, 200, 200, 404), {}),
    ("GET", "/memory/keys"): (READ, {"query_string": {"query": "Lisbon"}}),
    ("GET", "/memory/keys/<path:iri>"): ((401, 404, 404, 404, 404), {}),
    ("POST", "/memory/keys/recall"): ((401, 403, 403, 403, 403), {"json": {"query": "Lisbon"}}),
    ("GET", "/memory/memories"): (READ, {}),
    ("GET", "/memory/stats"): (READ, {}),
    ("GET", "/memory/conversation"): (READ, {"query_string": {"session": "monday"}}),
    ("GET", "/memory/<path:iri>/related"): ((401, 200, 200, 200, 404), {}),
    ("POST", "/memory/<path:iri>/read"): ((401, 200, 200, 200, 404), {"json": {}}),
    ("POST", "/memory/remember"): ((401, 403, 201, 200, 201), {"json": {"content": "Oslo is cold.", "keys": ["Oslo"]}}),
    ("POST", "/memory/remember/batch"): (
        (401, 403, 200, 200, 200),
        {"json": {"items": [{"content": "Tea.", "keys": ["tea"]}]}},
    ),
    ("GET", "/memory/<path:iri>/strength"): ((401, 200, 200, 200, 404), {}),
    ("POST", "/memory/<path:iri>/feedback"): ((401, 403, 200, 200, 404), {"json": {"helped": True}}),
    ("GET", "/memory/<path:iri>/trace"): ((401, 200, 200, 200, 404), {}),
    ("POST", "/memory/<path:iri>/unarchive"): ((401, 403, 404, 404, 404), {"json": {}}),
    ("POST", "/memory/associations"): (
        (401, 403, 404, 404, 404),
        {"json": {"source": "urn:memento:memory:x", "target": "urn:memento:memory:y"}},
    ),
    ("POST", "/memory/activate"): ((401, 404, 404, 404, 404), {"json": {"seeds": ["urn:memento:memory:x"]}}),
    ("POST", "/memory/decay"): ((401, 403, 200, 200, 200), {"json": {}}),
    ("GET", "/memory/fading"): ((401, 200, 200, 200, 200), {}),
    ("GET", "/memory/archived"): ((401, 200, 200, 200, 200), {}),
    ("POST", "/memory/compact"): ((401, 403, 200, 200, 200), {"json": {"dry_run": True}}),
    ("POST", "/memory/archive"): ((401, 403, 200, 200, 200), {"json": {}}),
    ("POST", "/memory/cleanup"): ((401, 403, 200, 200, 200), {"json": {}}),
    ("GET", "/memory/<path:iri>"): ((401, 200, 200, 200, 404), {}),
    ("DELETE", "/memory/<path:iri>"): ((401, 403, 200, 200, 404), {}),
    ("GET", "/cases"): (READ, {}),
    ("POST", "/cases"): ((401, 403, 201, 201, 201), {"json": {"rows": [{"task": "Move.", "plan": "Pack."}]}}),
    ("POST", "/cases/retrieve/each"): (READ, {"json": {"tasks": ["Where to live?"]}}),
    ("POST", "/cases/retrieve"): (READ, {"json": {"task": "Where to live?"}}),
    ("POST", "/cases/retrievals/<path:retrieval>/reward"): ((401, 403, 404, 404, 404), {"json": {"reward": 1}}),
    ("GET", "/cases/view"): (READ, {"query_string": {"tilt": "temporal"}}),
    ("GET", "/cases/metrics"): (READ, {}),
    ("GET", "/cases/status"): (READ, {}),
    ("POST", "/cases/runs"): ((401, 403, 201, 201, 201), {"json": {"task": "Move to Oslo."}}),
    ("GET", "/cases/runs/<path:run>"): ((401, 404, 404, 404, 404), {}),
    ("POST", "/cases/runs/<path:run>/steps"): ((401, 403, 404, 404, 404), {"json": {"task": "Pack."}}),
    ("POST", "/cases/runs/<path:run>/complete"): ((401, 403, 404, 404, 404), {"json": {"reward": 1}}),
    ("GET", "/cases/runs"): (READ, {}),
    ("POST", "/cases/plan"): ((401, 403, 201, 201, 201), {"json": {"task": "Move.", "steps": ["Pack."]}}),
    ("POST", "/cases/runs/<path:run>/execute"): ((401, 403, 403, 404, 403), {"json": {}}),
    ("GET", "/cases/tools"): (CARE, {}),
    ("POST", "/cases/prune"): ((401, 403, 200, 200, 200), {"json": {"keep": 1}}),
    ("GET", "/cases/<path:case>"): ((401, 404, 404, 404, 404), {}),
    ("DELETE", "/cases/<path:case>"): ((401, 403, 404, 404, 404), {}),
    ("GET", "/sparql"): (READ, {"query_string": {"query": "SELECT * { GRAPH ?g { ?s ?p ?o } }"}}),
    ("GET", "/.well-known/void"): (READ, {}),
    ("POST", "/sparql/update"): (UPDATED, {"data": UPDATE, "content_type": "application/sparql-update"}),
    ("GET", "/sparql/graphs"): (READ, {"query_string": "default"}),
    ("PUT", "/sparql/graphs"): (DEFAULT, {"query_string": "default", **TURTLE}),
    ("POST", "/sparql/graphs"): ((401, 403, 201, 201, 201), TURTLE),
    ("PATCH", "/sparql/graphs"): (PATCHED, {"query_string": "default", **PATCH}),
    ("DELETE", "/sparql/graphs"): (DEFAULT, {"query_string": "default"}),
    ("GET", "/sparql/graphs/<path:name>"): ((401, 403, 403, 403, 200), {}),
    # Notes of one's own are not replaced either.
    ("PUT", "/sparql/graphs/<path:name>"): ((401, 403, 403, 403, 403), TURTLE),
    ("POST", "/sparql/graphs/<path:name>"): ((401, 403, 403, 403, 200), TURTLE),
    ("PATCH", "/sparql/graphs/<path:name>"): ((401, 403, 403, 403, 204), PATCH),
    ("DELETE", "/sparql/graphs/<path:name>"): ((401, 403, 403, 403, 200), {}),
    # The files of the page hold nothing of a memory: a stranger is told the same as anybody, here that there is no such file.
    ("GET", "/static/sparql/<version>/<name>"): ((404,) * 5, {}),
    ("POST", "/sparql"): (READ, {"data": b"ASK {}", "content_type": "application/sparql-query"}),
}


PROXY = (401, 400, 400, 400, 400)
"""Where no provider is set; one who may read may ask it, as the memory is only read."""

TABLE = {
    **TABLE,
    **{
        (method, f"/{root}/<path:rest>"): (PROXY, {})
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        for root in ("v1", "api")
    },
    # Where it names a memory, as here, it is ours.
    ("DELETE", "/api/<path:rest>"): ((401, 403, 200, 200, 404), {}),
}
AWAY = [one.route.split(" ") for name, one in OPERATIONS.items() if PLUGGED.get(name) in OFF and one.route]
TABLE = {
    key: row
    for key, row in TABLE.items()
    if key not in [(verb, path.replace("{", "<path:").replace("}", ">")) for verb, path in AWAY]
}
"""What is served without the plug-ins that these tests are without."""


Doors = tuple[FlaskClient, dict[str, dict[str, str]], str]
"""The application, the headers of each role, and a memory of the tenant `local`."""


@pytest.fixture
def doors(memento: Memento) -> Iterator[Doors]:
    with doors_of(memento) as opened:
        yield opened


@pytest.fixture(scope="module")
def doors_for_reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """Doors of one memory for requests that change nothing."""
    memento = open_memento(tmp_path_factory.mktemp("read"), configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento, doors_of(memento) as opened:
        yield opened


@contextmanager
def doors_of(memento: Memento) -> Iterator[Doors]:
    nowhere = ProxySettings(openai_base_url="", anthropic_base_url="", ollama_base_url="")
    memento.service.settings = replace(memento.settings, proxy=nowhere)
    rights = {"reader": "read", "writer": "write", "admin": "admin"}
    tokens = {
        role: memento.tokens.create(role, tenant="local", namespaces=[], right=right, at=now())  # type: ignore[arg-type]
        for role, right in rights.items()
    }
    tokens["other"] = memento.tokens.create("other", tenant="rival", namespaces=[], right="admin", at=now())
    memento.with_access(Access(tenant="rival", right="write")).note(f"I live in {CANARY}.")
    [iri] = memento.note("I live in Lisbon.").memories
    headers = {role: {"Authorization": f"Bearer {token}"} for role, token in tokens.items()} | {"nobody": {}}
    with create_app(memento.service).test_client() as client:
        yield client, headers, iri


def test_the_table_has_every_address(doors: Doors) -> None:
    served = {
        (method, rule.rule)
        for rule in doors[0].application.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }

    assert served == set(TABLE)


def test_an_admin_that_cannot_care_for_the_folder_is_said_to_be_none(
    doors: Doors,
) -> None:
    boss = {"name": "boss", "scope": "admin", "tenant": "acme"}
    told = doors[0].post("/memory/tokens", json=boss)

    assert told.status_code == 201
    assert "cannot administer the whole data folder" in told.headers["Memento-Notice"]
    assert "Memento-Notice" not in doors[0].post("/memory/tokens", json={"name": "aid", "scope": "admin"}).headers


def ask_as_each_role(doors: Doors, method: str, path: str) -> dict[str, int]:
    """The status that each role gets; the canary of another tenant comes back to nobody else."""
    client, headers, iri = doors
    address = path.replace("<path:name>", quote(RIVALS, safe=""))
    address = re.sub(r"<(?:path|memory):\w+>", quote(iri, safe=""), address)
    got = {}
    for role in ROLES:
        how = TABLE[method, path][1]
        answer = client.open(address, method=method, headers=headers[role], environ_base=ELSEWHERE, **how)
        got[role] = answer.status_code
        assert role == "other" or CANARY not in answer.text, (role, answer.text)
    return got


def wanted(method: str, path: str) -> dict[str, int]:
    return dict(zip(ROLES, TABLE[method, path][0], strict=True))


@pytest.mark.parametrize("path", [path for method, path in TABLE if method == "GET"])
def test_each_role_reads_what_it_may(path: str, doors_for_reading: Doors) -> None:
    assert ask_as_each_role(doors_for_reading, "GET", path) == wanted("GET", path)


WRITES = [key for key in TABLE if key[0] != "GET"]


@pytest.mark.parametrize(("method", "path"), WRITES, ids=[" ".join(key) for key in WRITES])
def test_each_role_writes_what_it_may(method: str, path: str, doors: Doors) -> None:
    assert ask_as_each_role(doors, method, path) == wanted(method, path)


def test_a_tenant_finds_its_own_and_nothing_of_another(
    doors: Doors,
) -> None:
    client, headers, _ = doors
    everything = {"query": "SELECT ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"}
    asked = {"query": "Where do I live?", "gate": "false"}
    for role, own, foreign in (("other", CANARY, "Lisbon"), ("reader", "Lisbon", CANARY)):
        for address, question in (("/sparql", everything), ("/memory/recall", asked), ("/memory/list", {})):
            told = client.get(address, query_string=question, headers=headers[role], environ_base=ELSEWHERE).text
            assert own in told and foreign not in told, (role, address)


def test_a_narrow_token_neither_reads_nor_writes_another_namespace(memento: Memento) -> None:
    token = memento.tokens.create("narrow", tenant="local", namespaces=["work"], right="write", at=now())
    memento.note("I live in Lisbon.")
    headers = {"X-Memento-Token": token}
    with create_app(memento.service).test_client() as client:
        wrote = client.post("/memory/notes", json={"content": "My boss is Ana."}, headers=headers)
        refused = client.post("/memory/notes", json={"content": "I am tall.", "namespace": "main"}, headers=headers)
        listed = client.get("/memory/list", headers=headers).text
        known = client.get("/memory/status", headers=headers).json

    assert (wrote.status_code, refused.status_code) == (201, 403)
    assert "work" in refused.text
    assert "Ana" in listed and "Lisbon" not in listed
    assert known is not None and known["namespaces"] == ["work"]


def test_a_wrong_token_is_refused_even_here_and_never_repeated(memento: Memento) -> None:
    secret = "mem_canary-of-a-secret"
    with create_app(memento.service).test_client() as client:
        answer = client.get("/memory/status", headers={"Authorization": f"Bearer {secret}"})

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="memento"'
    assert secret not in answer.text
