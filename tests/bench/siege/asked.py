"""Hostile requests as data: `tests/sparql/hostile/*.jsonl`, one request a line, by family; and what came of each."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2

from w3c.endpoint import Endpoint

FOLDER = Path(__file__).parents[2] / "sparql" / "hostile"
FAMILIES = ("refused", "reaching", "changing", "heavy")
WANTED: Mapping[str, tuple[int | str, ...]] = MappingProxyType({"reaching": (403,), "changing": (400, 403, 405)})
"""The statuses of a family whose lines do not say their own."""

OTHERWISE: Mapping[tuple[str, str], tuple[int, ...]] = MappingProxyType({("heavy", "memory"): (200, 204)})
"""What is right as well: over memories, of which there are few, a query of the other dataset may find nothing and end."""

MEDIA = {"query": "application/sparql-query", "update": "application/sparql-update"}
CUT = "cut"
"""An answer that began with 200 and broke off before its end, as a client of HTTP can see."""

GIVEN_UP = "given up"
"""No answer in the time that a client waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """
    One request; `PORT` in it stands for the port of the canary, `OWN` for that of the service.

    `form` is the name of the form field that carries the text; without one it is the body itself.
    """

    name: str
    family: str
    text: str
    wanted: tuple[int | str, ...]
    door: str = "query"
    method: str = "POST"
    form: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a request: its status, the seconds until its end, and the bytes of its body."""

    request: Request
    status: int | str
    seconds: float
    bytes: int
    said: str

    @property
    def is_right(self) -> bool:
        """Whether it is a status that was wanted."""
        return self.status in self.request.wanted


def requests(family: str, *, service: str = "bare", canary: int = 9, own: int = 9) -> Iterator[Request]:
    """The requests of a family; those of `service="memory"` may have other statuses."""
    for line in (FOLDER / f"{family}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = _filled(row).replace("PORT", str(canary)).replace("OWN", str(own))
        params = {name: value.replace("PORT", str(canary)) for name, value in row.get("params", {}).items()}
        yield Request(
            name=row["name"],
            family=family,
            text=text,
            wanted=(*row.get(service, row.get("want", WANTED.get(family, ()))), *OTHERWISE.get((family, service), ())),
            params=params,
            **{name: row[name] for name in ("door", "method", "form", "headers") if name in row},
        )


def _filled(row: Mapping[str, Any]) -> str:
    """The text with its long parts written out."""
    text: str = row.get("text", "")
    for mark, (piece, times) in row.get("fill", {}).items():
        text = text.replace(mark, piece * times)
    if times := row.get("doublings"):
        steps = [f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(times)]
        text = text.replace("DOUBLINGS", " ".join(steps)).replace("LAST", str(times))
    if times := row.get("tables"):
        tables = [f"VALUES ?v{n} {{ 0 1 2 3 4 5 6 7 8 9 }}" for n in range(times)]
        text = text.replace("TABLES", " ".join(tables))
    return text


def sent(request: Request, endpoint: Endpoint, *, patience_s: float) -> Came:
    """Send it, and read the answer to its end or for `patience_s` seconds of silence."""
    url = {"query": endpoint.query, "update": endpoint.update, "graphs": endpoint.graphs}[request.door]
    headers = {"Content-Type": MEDIA.get(request.door, ""), **request.headers}
    content: dict[str, Any] = {"content": request.text.encode("utf-8", errors="surrogatepass")}
    if request.form:
        del headers["Content-Type"]
        content = {"data": {request.form: request.text}}
    if request.method == "GET":
        content, headers = {}, {}
    begin = time.perf_counter()
    status: int | str = GIVEN_UP
    taken, said = 0, b""
    try:
        with endpoint.client.stream(
            request.method, url, params=dict(request.params), headers=headers, timeout=patience_s, **content
        ) as answer:
            status = answer.status_code
            for chunk in answer.iter_raw():
                taken += len(chunk)
                said = said or chunk[:300]
    except httpx2.TimeoutException:
        status = GIVEN_UP
    except httpx2.HTTPError as error:
        status, said = (CUT if status == 200 else "closed"), str(error).encode()
    return Came(request, status, time.perf_counter() - begin, taken, said.decode(errors="replace"))
