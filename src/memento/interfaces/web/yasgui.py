"""
The page at `/sparql` for browsers: YASGUI with the prefixes, the example queries and the limits of this service. And `Bundle`: the
scripts, styles and pictures that pages load.

*Guarantees:* the page loads everything from this address, and its policy forbids all others. It contains nothing from a memory, so
it needs no token: it queries with the token of its user. The address of a page's files has a digest of them all, so a browser can
cache them for ever and never mixes versions. No other file of their folder is served.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files

from flask import Blueprint, Response, render_template, request, url_for
from werkzeug.exceptions import NotFound

from memento import __version__, assets, settings
from memento.graph.binding import load_query
from memento.sparql.description import EXAMPLES as OF_MEMORY

ADDRESS = "/sparql"
EXAMPLES = (
    "library/first",
    "library/latest",
    *OF_MEMORY,
    "library/replaced",
    "library/around",
    "library/derived",
    "library/tagged",
    "library/classes",
    "library/counted",
    "library/graphs",
    "library/as_of",
    "library/described",
    "library/sources",
    "library/chain",
    "library/owl_time",
)
"""The example queries of the page, in order; an empty page starts with the answer to the first."""

SAMPLE = re.compile(r"<urn:memento:(?!user:)[^<>]++>")
"""An IRI in an example that the reader must replace."""

PREFIXES_OF = ("ontology/memento.ttl", "ontology/alignment.ttl", "ontology/shapes.ttl", "ontology/world.trig")
RDF = ("text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json", "application/json")
STYLES = (
    "'sha256-zCK2EVMoPc04mRF/g5CotUvxbJPWS+8V0b+s9ptqQIk='",  # resizable columns
    "'sha256-c0O6TmFAkgpNbHxKAa1BrveWHHopjEtC47i0PzMudxg='",  # the pointer while a column is resized
)
UNDERLINED = "'sha256-EntWS0hFrz2vH7susM+dPUxvHlL6sBswmM8K80E5oUk='"  # the tokens that a syntax error expected
"""The inline styles of YASGUI, as digests for the content security policy. A browser prints the digest of one that is missing."""

HEADERS = {
    # Scripts, styles and requests from this address only, and no framing.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        f"style-src 'self' {' '.join(STYLES)}; style-src-attr 'unsafe-hashes' {UNDERLINED}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
    "Vary": "Accept",
}

TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "ttl": "text/turtle; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}


class Bundle:
    """The files of one page, or of pages that share them."""

    def __init__(self, name: str, more: Callable[[], Mapping[str, bytes]] = dict) -> None:
        """
        Args:
            name: the name of the folder below `static`, and of the address.
            more: returns files in addition to those of the folder.
        """
        self.name = name
        self.address = f"/static/{name}/"
        self._more = more

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """The served files, by name."""
        folder = files("memento.interfaces.web") / "static" / self.name
        return {
            **{file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in TYPES},
            **self._more(),
        }

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that change when any of the files changes."""
        parts = (name.encode() + b"\0" + body for name, body in sorted(self.files.items()))
        return sha256(b"".join(parts)).hexdigest()[:16]

    def add_route(self, routes: Blueprint) -> None:
        """Add the route that serves the files."""
        routes.get(f"{self.address}<version>/<name>", endpoint="file")(self.send)
        self._endpoint = f"{routes.name}.file"

    def locate(self, name: str) -> str:
        """Return the address of a file."""
        return url_for(self._endpoint, version=self.digest, name=name)

    def send(self, version: str, name: str) -> Response:
        """Answer with a file; raise `NotFound` for an unknown file or another version."""
        if version != self.digest or name not in self.files:
            raise NotFound
        response = Response(self.files[name], content_type=TYPES[name.rpartition(".")[2]])
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example query: the name of its file, its first sentence, and its text without the rest of the header."""

    name: str
    title: str
    text: str

    @property
    def sample(self) -> str:
        """The IRI that the reader must replace before the query finds anything; empty if there is none."""
        found = SAMPLE.search(self.text)
        return found[0] if found else ""


class Yasgui:
    """The page, and the route of its files."""

    def __init__(self, configured: settings.Settings, notice: Callable[[], str | None] = lambda: None) -> None:
        """
        Args:
            configured: the settings whose query limits the page shows.
            notice: returns the notice at the top of the page, if any.
        """
        self._settings = configured
        self._notice = notice

    def blueprint(self) -> Blueprint:
        """Return the route of the files; `/sparql` itself belongs to the protocol, which never gets a request for the page."""
        routes = Blueprint("yasgui", __name__)
        BUNDLE.add_route(routes)
        return routes

    def is_wanted(self) -> bool:
        """Tell whether this is a request for `/sparql` without a query, from a client that prefers HTML to RDF."""
        if request.path.rstrip("/") != ADDRESS or request.method not in ("GET", "HEAD") or "query" in request.args:
            return False
        accepted = request.accept_mimetypes  # the slowest check, so the last
        return accepted["text/html"] > max(accepted[media] for media in RDF)

    def page(self) -> Response:
        """Return the page."""
        html = render_template(
            "sparql.html",
            version=__version__,
            notice=self._notice(),
            address=ADDRESS,
            examples=examples(),
            terms=load_query("library/terms").text,
            prefixes=json.dumps(prefixes()),
            limits=self._settings.limits,
            sparql=self._settings.sparql,
            file=BUNDLE.locate,
        )
        response = Response(html, mimetype="text/html", headers=HEADERS)
        response.add_etag()
        response.make_conditional(request)
        return response


@cache
def examples() -> tuple[Example, ...]:
    """Return the example queries."""
    return tuple(_example(name) for name in EXAMPLES)


@cache
def prefixes() -> dict[str, str]:
    """Return the prefixes of the project's own files by name: those that a user of this graph needs."""
    found = (
        re.findall(r"^@prefix (\w+):\s+<([^>\s]++)> \.", assets.read(name).decode(), flags=re.M) for name in PREFIXES_OF
    )
    return dict(sorted(pair for pairs in found for pair in pairs))


def _example(name: str) -> Example:
    title, *rest = load_query(name).text.splitlines(keepends=True)
    body = "".join(line for line in rest if not re.match(r"# (in|out|used by): ", line))
    return Example(name=name.partition("/")[2], title=title.removeprefix("#").strip(), text=body)


def _list_more() -> dict[str, bytes]:
    return {"ontology.ttl": assets.read("ontology/memento.ttl"), "settings.txt": settings.table().encode()}


BUNDLE = Bundle("sparql", _list_more)
"""The files of the page."""
