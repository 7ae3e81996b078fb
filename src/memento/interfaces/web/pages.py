"""
The web pages: search, what is true of somebody, memories, the graph, the map, reviews, prompts, tokens, health.

*Flow:* an address → operations, called as by every interface → a template. A button sends a form to `/do/<operation>`, which is
parsed as that operation; the answer is a receipt. `/docs/` serves the files that `make site` or the build of the wheel created.

*Guarantees:* a page has the rights of its reader's token, and no others. A form is accepted only with the secret of the session and
from this address. Stored text is only ever shown as text: templates escape it, and the policy of a page allows only our own
scripts, styles and pictures. Below `/docs/`, only files of the documentation are served.

*But:* a checkout has no documentation until `make site` ran; `/docs` says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from flask import Blueprint, Flask, Response, g, make_response, redirect, render_template, request, stream_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.security import safe_join

from memento import __version__, assets, plugin, telemetry
from memento.errors import Forbidden, MementoError, MissingPart, NotFound
from memento.interfaces.picture import count_noun, draw_manifest
from memento.interfaces.proxy.routes import PROXIED, Proxy
from memento.interfaces.web.requests import Parameters, context, namespace
from memento.interfaces.web.rest import build, read_form, respond
from memento.interfaces.web.vocabulary import describe_page, wants_page
from memento.interfaces.web.yasgui import Bundle
from memento.iris import shorten
from memento.model import BelievedClaim, Described, GraphLink, GraphNode, Neighbourhood, Region, Scope, Timeline
from memento.ontology import load_terms
from memento.operations import TABLE, Operation, list_operations
from memento.operations.base import FILTERS, route_of, summary_of
from memento.operations.capture import Proposals
from memento.operations.care import ListTokens, Status
from memento.operations.notes import Disputes, ListWaiting, Sources
from memento.operations.recall import (
    Entities,
    FindPath,
    Get,
    List,
    Manifest,
    Neighbours,
    Recall,
    Tags,
)
from memento.operations.recall import Timeline as ShowTimeline
from memento.retrieval.render import count_tokens
from memento.service import Service, describe_unknown, handle
from memento.service.handlers.recall import health as health_of

TOKEN, NONCE = "memento_token", "memento_session"
"""Cookies: the token of a reader who signed in, and the nonce for the secret of forms where no token is needed."""

SITE_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".inv": "application/octet-stream",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".jsonld": "application/ld+json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
"""The media types of documentation files by suffix, independent of the system's table; other files are text."""

BUTTONS = (
    "note",
    "correct",
    "undo",
    "forget",
    "unforget",
    "mark",
    "settle",
    "retry",
    "create_token",
    "revoke_token",
    "check",
    "rebuild",
    "backup",
    "accept_proposals",
    "reject_proposals",
)
"""The operations that a form may call; plug-ins add theirs."""

OWN: tuple[str, ...] = (
    "/search",
    "/timeline",
    "/graph",
    "/map",
    "/review",
    "/prompts",
    "/tokens",
    "/system",
    "/docs",
    "/sign-in",
    "/sign-out",
)
SHARED: tuple[str, ...] = ("/memory",)
"""Addresses that programs use too: a client that prefers HTML to JSON gets the page. What follows them is an IRI."""
for _address, _of in plugin.name_owners("pages").items():
    plugin.refuse_clash("pages", dict.fromkeys((*OWN, *SHARED), "Memento"), (_address,), _of)
_asked = {route_of(one) for one in TABLE.values()}
_plugged = {_address: ("GET", _address) in _asked for _address in plugin.name_owners("pages")}
OWN += tuple(_address for _address, is_shared in _plugged.items() if not is_shared)
SHARED += tuple(_address for _address, is_shared in _plugged.items() if is_shared and "{" not in _address)

PHASES = ("land", "anchor", "expand", "distill", "trace")
PAGE = 50
MOST = 200
"""Most memories on the page of a person or a thing."""
LATEST = 12
CHANGES = 6
AROUND = 6
LINKED = 30
"""Most nodes of the graph of somebody's claims: so many have labels that one can read."""
BUNDLE = Bundle("pages")
MARK = "<!-- what follows takes longer -->"

HEADERS = {
    # Cytoscape and htmx need no inline styles or scripts; a form may only be sent here, and no page may frame this one.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without it, a browser would not say where a form comes from
    "Cache-Control": "no-store",
    "Vary": "Accept, Cookie, HX-Request",
}


ShowPage = Callable[[Callable[[Operation[Any]], Any], Mapping[str, str]], tuple[str, str | Mapping[str, Any]]]
"""
What a plug-in shows at an address: from a function that answers operations as the reader may ask them, and the parameters of the
address, the title and the content; or the name of a template in the folder `templates` beside the function's module, and its
values. Only what is `markupsafe.Markup` counts as HTML; any other text is escaped.
"""
ShowPanel = Callable[[Callable[[Operation[Any]], Any], str, str | None], str]
"""What a plug-in shows of a memory: as `ShowPage`, but with the IRI of the memory and the namespace of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link on the page of a node: the relation, its direction, and the node at the other end."""

    relation: str
    is_back: bool
    node: GraphNode


def is_page() -> bool:
    """Tell whether the request is for a page, or comes from one."""
    path = request.path
    if path == "/" or path.startswith("/do/") or wants_page():
        return True
    if any(path == own or path.startswith(f"{own}/") for own in OWN):
        return True
    is_shared = any(path == one or path.startswith(f"{one}/urn:") for one in SHARED)
    return is_shared and request.method in ("GET", "HEAD") and prefers_html()


def prefers_html() -> bool:
    """Tell whether the client prefers HTML to JSON and Turtle; a request of htmx always does."""
    if request.headers.get("HX-Request"):
        return True
    accepted = request.accept_mimetypes
    return accepted["text/html"] > max(accepted["application/json"], accepted["text/turtle"])


def token_of_session() -> str | None:
    """
    Return the token of the reader who signed in, for pages and for what they link to and load. Programs send their own tokens.

    A request that is not for a page must be a read that the browser marks as coming from this address; a read changes nothing.
    """
    is_own = request.method in ("GET", "HEAD") and request.headers.get("Sec-Fetch-Site") == "same-origin"
    return request.cookies.get(TOKEN) if is_own or is_page() else None


class Pages:
    """The pages over one memory."""

    def __init__(self, service: Service, proxy: Proxy, notice: Callable[[], str | None]) -> None:
        """
        Args:
            notice: returns the notice at the top of every page, if any.
        """
        self._service, self._proxy, self._notice = service, proxy, notice
        self._left_out = service.settings.plugins.left_out
        self._plugged: list[str] = []
        """The addresses of the pages of plug-ins."""
        self._shared: dict[str, ShowPage] = {}
        """The pages of plug-ins at addresses that programs use too."""

    def register(self, app: Flask) -> None:
        """Add the routes that serve only pages, and the filters of the templates."""
        routes = Blueprint("pages", __name__)
        BUNDLE.add_route(routes)
        for path, view in (
            ("/", self.show_home),
            ("/search", self.show_search),
            ("/timeline", self.show_timeline),
            ("/graph", self.show_graph),
            ("/graph/data", self.send_graph),
            ("/map", self.show_map),
            ("/review", self.show_review),
            ("/prompts", self.show_prompts),
            ("/tokens", self.show_tokens),
            ("/system", self.show_system),
            ("/docs", self.show_docs),
            ("/favicon.ico", send_icon),
            ("/docs/<path:name>", self.send_docs),
        ):
            routes.add_url_rule(path, view_func=view, methods=["GET"])
        for address, show in plugin.collect("pages").items():
            if plugin.name_owners("pages")[address] not in self._left_out:
                self._add_plugged(app, routes, address, show)
        routes.post("/do/<name>")(self.perform)
        routes.post("/sign-in")(self.sign_in)
        routes.post("/sign-out")(self.sign_out)
        app.register_blueprint(routes)
        app.after_request(_finish)
        zone = self._service.zone
        app.jinja_env.filters |= {
            "day": lambda at: _show_time(at, zone, "%-d %b %Y"),
            "moment": lambda at: _show_time(at, zone, "%-d %b %Y, %H:%M"),
            "short": lambda iri: str(iri).rpartition(":")[2][-8:],
            "name": lambda iri: str(iri).rpartition("/")[2].rpartition("#")[2].rpartition(":")[2],
            "count": count_noun,
            "relation": _label_relation,
            "you": address_user,
        }

    def _add_plugged(self, app: Flask, routes: Blueprint, address: str, show: ShowPage) -> None:
        """Add the page of a plug-in, and the folder of its templates."""
        if "{" not in address:
            self._plugged.append(address)
        if _plugged[address]:
            self._shared[address] = show
        else:
            rule = address.replace("{", "<path:").replace("}", ">")
            routes.add_url_rule(rule, address, partial(self.show_plugged, show), methods=["GET"])
        module = show.__module__
        if (name := module.replace(".", "-")) not in app.blueprints:  # a blueprint is how Flask finds further templates
            app.register_blueprint(Blueprint(name, module, template_folder="templates"))

    def answer_shared(self) -> ResponseReturnValue | None:
        """Return the page at an address that programs use too, if the client wants a page; else None."""
        if not is_page() or not request.path.startswith(SHARED):
            return None
        base, _, iri = request.path[1:].partition("/")
        if base == "memory":
            return self.show_node(iri) if iri else self.show_memories()
        for address, show in self._shared.items():
            base, _, place = address.partition("/{")
            if request.path == address:
                return self.show_plugged(show)
            if place and request.path.startswith(f"{base}/urn:"):
                return self.show_plugged(show, **{place[:-1]: request.path[len(base) + 1 :]})
        return None

    def answer_failure(self, status: int, message: str, *, asks_token: bool = False) -> Response:
        """Answer with a page that says what went wrong, or with the sign-in page if a token is missing."""
        if request.headers.get("HX-Request"):
            return Response(render_template("_problem.html", message=message), status=status, mimetype="text/html")
        template, back = ("sign_in.html", _find_wanted()) if asks_token else ("problem.html", _find_way_back())
        shown = self._render(template, status=status, message=message, back=back)
        return Response(shown, status=status, mimetype="text/html")

    # Views

    def show_home(self) -> ResponseReturnValue:
        """Show the search box, the note box, what changed, and the latest memories. The boxes are sent before the rest is read."""
        status = self._call(Status)
        due = {"note": status.pending + status.failed, "proposal": status.proposals, "dispute": status.contradictions}
        return self._stream(
            "home.html",
            status=status,
            waiting=[count_noun(number, noun) for noun, number in due.items() if number],
            changes=self._list_changes,
            latest=self._call(List, limit=LATEST),
            entities=self._call(Entities, limit=LATEST),
        )

    def _list_changes(self) -> list[tuple[BelievedClaim, BelievedClaim]]:
        """List what of the user ended last, each claim with the one that took its place."""
        history: Timeline | None = self._try(ShowTimeline, subject="me", limit=1)
        claims = {one.iri: one for one in history.claims} if history else {}
        pairs = [(one, claims[one.by]) for one in claims.values() if one.invalid_at and one.by in claims]
        pairs.sort(key=lambda pair: pair[0].invalid_at or pair[0].valid_at, reverse=True)
        return pairs[:CHANGES]

    def show_search(self) -> ResponseReturnValue:
        """Show the memories for a question, the phases, and the reasons. The top of the page is sent before the recall is done."""
        asked = _read_arguments("q", "as_of", "believed_at", "k", *FILTERS)
        if not asked.get("q"):
            return self._render("search.html", asked=asked)
        values = {**asked, "question": asked["q"], "explain": "true"}
        if request.headers.get("HX-Request"):  # what is typed so far, or the same once more
            values["counts"] = "false"
        question, held = cast(Recall, read_form(Recall, _to_form(values, without=("q",)))), context()
        held.read_filter(question)  # raise for a wrong filter before anything is sent
        held.scope(question.namespace)

        def recall() -> dict[str, Any]:
            try:
                found = handle(question, held)
            except MementoError as error:
                return {"problem": str(error)}
            phases = [(name, found.timings_ms.get(name, 0.0)) for name in PHASES]
            most = max((sum(one.why.values()) for one in found.memories), default=1.0) or 1.0
            return {"found": found, "phases": phases, "most": most, "longest": max(ms for _, ms in phases)}

        return self._stream("search.html", asked=asked, recall=recall)

    def show_memories(self) -> str:
        """List memories by filters, newest first."""
        asked = _read_arguments("limit", "offset", "past", *FILTERS)
        asked.setdefault("limit", str(PAGE))
        page = read_form(List, _to_form(asked))
        rows = handle(page, context())
        return self._render("memories.html", asked=asked, rows=rows, tags=self._call(Tags)[:30], page=page)

    def show_node(self, iri: str, history: Timeline | None = None) -> str:
        """Show one memory, note, thing, or any other node of the graph; `history` is its own, if it was already read."""
        scope = context().scope(namespace())
        if iri == scope.user:  # thousands of statements may point at the user, and none is shown
            described = Described(iri=scope.user, type="User", namespace=scope.namespace, properties=())
        else:
            described = self._call(Get, iri=iri)
        facts = _group_properties(described)
        kind = described.type
        if kind in ("Entity", "User"):
            label = facts.get("name", ["you" if kind == "User" else shorten(described.iri)])[0]
            truth = self._describe_truth(
                described, history or self._try(ShowTimeline, subject=described.iri, limit=MOST)
            )
            return self._render("entity.html", node=described, facts=facts, label=label, **truth)
        around = self._call(Neighbours, nodes=[described.iri], limit=80)
        links = _list_links(described, around)
        label = next((one.label for one in around.nodes if one.iri == described.iri), shorten(described.iri))
        shown: dict[str, Any] = {
            "node": described,
            "facts": facts,
            "links": links,
            "label": label,
            "left_out": around.left_out,
        }
        if kind == "Memory":
            history = self._try(ShowTimeline, subject=described.iri)
            itself = next((one for one in history.memories if one.iri == described.iri), None) if history else None
            return self._render(
                "memory.html",
                **shown,
                history=history,
                itself=itself,
                ended=itself.ended if itself else (),
                sources=self._try(Sources, iri=described.iri) or (),
                panels=self._show_panels(described.iri),
            )
        if kind in ("Note", "Turn"):
            sources = self._try(Sources, iri=described.iri) or ()
            read = [self._try(Get, iri=one) for one in dict.fromkeys(source.memory for source in sources)]
            hidden = ["expiredAt" in _group_properties(one) for one in read if one]
            states = {"is_forgotten": all(hidden) and bool(hidden), "some_forgotten": any(hidden) or not hidden}
            return self._render("note.html", **shown, sources=sources, **states)
        return self._render("node.html", **shown)

    def _describe_truth(self, described: Described, history: Timeline | None) -> dict[str, Any]:
        """Return what is true of somebody or something, what was, and what is disputed, for its page."""
        memories, claims = (history.memories, history.claims) if history else ((), ())
        stated = {one.memory for one in claims}
        known = stated | {one.iri for one in memories}
        disputes = [one for one in self._call(Disputes, limit=1000) if one.one in known or one.other in known]
        own = sorted((one for one in claims if one.owner == described.iri), key=lambda one: one.relation)
        return {
            "is_user": described.type == "User",
            "own": own,
            "others": sorted((one for one in claims if one.owner != described.iri), key=lambda one: one.relation),
            "told": [one for one in memories if one.iri not in stated],
            "earlier": history is not None and history.earlier > 0,
            "disputes": disputes,
            "disputed": {iri for one in disputes for iri in (one.one, one.other)},
        }

    def show_timeline(self) -> str:
        """Show the page of a subject by its name; without one, the user's."""
        subject = _read_arguments("subject").get("subject", "me")
        history: Timeline = self._call(ShowTimeline, subject=subject, limit=MOST)
        return self.show_node(history.iris[0], history)

    def show_graph(self) -> str:
        """Show the empty graph page, which its script fills."""
        asked = _read_arguments("q", "node", "start", "end", "limit")
        return self._render("graph.html", asked=asked)

    def send_graph(self) -> Response:
        """Answer with nodes and links: of a search, around a node, along a path, or of the most mentioned nodes."""
        asked = _read_arguments("q", "node", "start", "end", "limit")
        limit = Parameters("q", "node", "start", "end", "limit").read_number("limit")
        if asked.get("q"):
            found = self._call(Recall, question=asked["q"], k=12, counts=False)
            nodes = [one.iri for one in found.memories]
        elif asked.get("start"):
            return respond(self._call(FindPath, start=asked["start"], end=asked.get("end") or ""))
        else:
            if limit is None and (claimed := self._link_claims(asked.get("node", "me"))).links:
                return respond(claimed)
            nodes = [asked["node"]] if asked.get("node") else [one.iri for one in self._call(Entities, limit=LATEST)]
        return respond(
            self._call(Neighbours, nodes=nodes, limit=AROUND if limit is None else limit) if nodes else _NOTHING
        )

    def _link_claims(self, subject: str) -> Neighbourhood:
        """Return somebody or something, and those with whom it hangs together: a link for each claim that holds between two."""
        history: Timeline = self._call(ShowTimeline, subject=subject, limit=1)
        claims = [one for one in history.claims if one.state == "holds" and one.entity and not one.is_denied]
        ends = [*history.iris, *(end for one in reversed(claims) for end in (one.owner, one.entity) if end)]
        nodes = [*dict.fromkeys(ends)][:LINKED]
        links = dict.fromkeys(
            GraphLink(source=one.owner, target=one.entity, relation=one.relation)
            for one in claims
            if one.entity and {one.owner, one.entity} <= {*nodes}
        )
        known = {one.iri: one for one in self._call(Entities, limit=1000)} if links else {}
        said = {one.owner: one.name for one in claims} | {one.entity: one.value for one in claims}
        described = (
            GraphNode(iri=iri, label=known[iri].name, kind=known[iri].kind)
            if iri in known
            else GraphNode(iri=iri, label=said.get(iri, shorten(iri)), kind="User" if said.get(iri) == "you" else "")
            for iri in nodes
        )
        return Neighbourhood(nodes=tuple(described), links=tuple(links), left_out=len({*ends}) - len(nodes))

    def show_map(self) -> str:
        """Show the map of the memory, with a link for each region."""
        drawn = self._call(Manifest)
        link = partial(_locate, "/search")
        picture = Markup(draw_manifest(drawn, lambda one: link(q=_question_of(one)), _locate_node))
        return self._render("map.html", manifest=drawn, picture=picture, question_of=_question_of)

    def show_review(self) -> str:
        """Show what a person should decide: notes, proposals, contradictions."""
        proposals = self._call(Proposals)
        disputes = self._call(Disputes, limit=PAGE)
        return self._render("review.html", waiting=self._call(ListWaiting), disputes=disputes, proposals=proposals)

    def show_prompts(self) -> str:
        """Show the blocks that were put into prompts last, and their cost."""
        context().require_owner("blocks of every tenant are kept together")
        blocks = [
            (
                datetime.fromtimestamp(one.made, UTC),
                one.memories,
                count_tokens(text := json.loads(f'"{one.text}"')),
                text,
                [iri for iri in iris if iri.startswith("urn:memento:memory:")],
            )
            for one, iris in self._proxy.list_prompts(PAGE)
        ]
        shown = [*dict.fromkeys(iri for block in blocks for iri in block[4])][:500]
        nodes = {one.iri: one for one in (self._call(Neighbours, nodes=shown, limit=0).nodes if shown else ())}
        counts = telemetry.tally("proxy.")
        return self._render(
            "prompts.html", blocks=blocks, nodes=nodes, counts=counts, kept=self._service.settings.proxy.blocks
        )

    def show_tokens(self) -> str:
        """Show the tokens."""
        return self._render("tokens.html", tokens=self._call(ListTokens))

    def show_system(self) -> str:
        """Show the state of the service."""
        health = health_of(context(), self._proxy.origins)
        return self._render("system.html", status=self._call(Status), health=health)

    def show_docs(self) -> ResponseReturnValue:
        """Show the documentation; if it is not built, show the addresses and how to build it."""
        if folder := find_site():
            return _send_file(folder, "") if request.path.endswith("/") else redirect("/docs/")
        routes = sorted(
            (one.route.partition(" ")[::-1], summary_of(one))
            for one in self._list_operations().values()
            if "rest" not in one.absent
        )
        return self._render("docs.html", routes=routes)

    def send_docs(self, name: str) -> Response:
        """Send a file of the documentation."""
        if folder := find_site():
            return _send_file(folder, name)
        raise NoPage

    def show_plugged(self, show: ShowPage, **places: str) -> str:
        """Show the page of a plug-in; `places` are parts of its address."""
        name, shown = show(lambda operation: handle(operation, context()), {**request.args, **places})
        if isinstance(shown, str):
            return self._render("plugged.html", heading=name, body=shown)
        return self._render(name, **shown)

    def show_ontology(self) -> str:
        """Show the vocabulary."""
        return self._render("ontology.html", **describe_page())

    # Actions

    def perform(self, name: str) -> ResponseReturnValue:
        """Run the operation of a button, and answer with a receipt."""
        _require_own_form()
        g.namespace_of_form = request.form.get("namespace")  # also of the links and buttons of the receipt
        operation = self._list_operations().get(name)
        if operation is None or not self._offers(name):
            raise NoPage
        form = MultiDict((key, value) for key, value in request.form.items(multi=True) if key not in ("csrf", "back"))
        for field in ("tags", "untag", "namespaces", "graphs"):  # entered in one box, separated by commas
            if field in form:
                form.setlist(field, [one.strip() for one in form[field].split(",")])
        call = read_form(operation, form)
        answer = handle(call, context())
        known = {"name": name, "call": call, "answer": answer}
        if request.headers.get("HX-Request"):
            response = make_response(self._render("_receipt.html", **known))
            if not getattr(call, "dry_run", False):
                response.headers["HX-Trigger-After-Swap"] = "changed"  # the page reloads what it shows of it
            return response
        return self._render("receipt.html", **known, back=_own_path(request.form.get("back")))

    def sign_in(self) -> ResponseReturnValue:
        """Store a token in a cookie until the browser closes."""
        _require_own_address()
        token = request.form.get("token", "").strip()
        self._service.tokens.access(token)
        response = redirect(_own_path(request.form.get("back")), 303)
        response.set_cookie(TOKEN, token, httponly=True, samesite="Strict", secure=_is_secure(), path="/")
        return response

    def sign_out(self) -> ResponseReturnValue:
        """Forget the token."""
        _require_own_form()
        response = redirect("/", 303)
        response.delete_cookie(TOKEN, path="/")
        return response

    def _offers(self, name: str) -> bool:
        """Tell whether a form may call an operation."""
        is_plugged = any(name in of.buttons for found, of in plugin.list_plugins() if found.name not in self._left_out)
        return name in BUTTONS or is_plugged

    def _show_panels(self, iri: str) -> Iterator[str]:
        """Yield the parts that plug-ins add to the page of a memory."""
        for name, show in plugin.collect("panel").items():
            if name not in self._left_out:
                with suppress(NotFound):  # an erased memory may have nothing to show
                    yield show(lambda operation: handle(operation, context()), iri, namespace())

    def _list_operations(self) -> Mapping[str, type[Operation[Any]]]:
        return list_operations(self._left_out)

    def _call(self, operation: type[Operation[Any]], **arguments: Any) -> Any:
        return handle(build(operation, {**arguments, "namespace": namespace()}), context())

    def _try(self, operation: type[Operation[Any]], **arguments: Any) -> Any:
        """Call an operation whose answer a page can do without: for example, an erased memory has no history and no strength."""
        try:
            return self._call(operation, **arguments)
        except NotFound:
            return None

    def _render(self, template: str, **shown: Any) -> str:
        name, values = self._prepare(template, **shown)
        return render_template(name, **values)

    def _stream(self, template: str, **shown: Any) -> Response:
        """Send a page up to `MARK` before what follows it is made."""
        name, values = self._prepare(template, **shown)
        _secret_of_forms()  # sets the cookie, which must be sent before the forms
        return Response(_join_pieces(stream_template(name, **values)), mimetype="text/html")

    def _prepare(self, template: str, **shown: Any) -> tuple[str, dict[str, Any]]:
        """Return a template and its variables, with those that every page needs."""
        access = context().access if "context" in g else None
        return template, {
            "version": __version__,
            "plugged": [(address.strip("/").capitalize(), address) for address in self._plugged],
            "me": f"/memory/{Scope(tenant=access.tenant).user}" if access else "/",
            "offers": self._offers,
            "notice": self._notice(),
            "file": BUNDLE.locate,
            "locate": _locate,
            "locate_node": _locate_node,
            "csrf": _secret_of_forms,
            "access": access,
            "may": lambda right: access is not None and access.may(right),
            "namespace": namespace(),
            "used_namespace": _name_namespace() if access is not None else "",
            "unknown_namespace": _describe_unknown() if access is not None else None,
            "path": request.full_path.rstrip("?"),
            "here": request.path,
            "is_signed_in": TOKEN in request.cookies,
            **shown,
        }


def _join_pieces(pieces: Iterator[str]) -> Iterator[str]:
    """Join the output of a template into two parts: up to `MARK`, which can be shown at once, and the rest."""
    held: list[str] = []
    for piece in pieces:
        held.append(piece)
        if MARK in piece:
            yield "".join(held)
            held = []
    yield "".join(held)


def _name_namespace() -> str:
    """Return the namespace that a page shows; if the reader may not see it, the requested name."""
    try:
        return context().scope(namespace()).namespace
    except MementoError:
        return namespace() or ""


def _describe_unknown() -> str | None:
    """Return a notice if the namespace of the page has no memories, because its name may be misspelt."""
    try:
        return describe_unknown(namespace(), context())
    except MementoError:
        return None


def send_icon() -> Response:
    """Send the icon that browsers request for documents that name none."""
    return Response(BUNDLE.files["icon.svg"], mimetype="image/svg+xml", headers={"Cache-Control": "max-age=86400"})


_NOTHING = Neighbourhood(nodes=(), links=())


def _finish(response: Response) -> Response:
    """Add the headers of pages to every page and fragment that has none of its own, and the cookie of a new session."""
    if is_page() and not request.path.startswith(BUNDLE.address):
        response.headers.update(HEADERS | {"Cache-Control": response.headers.get("Cache-Control", "no-store")})
        if nonce := g.get("nonce"):
            response.set_cookie(NONCE, nonce, httponly=True, samesite="Strict", secure=_is_secure(), path="/")
    elif response.mimetype == "text/html":
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
    return response


def _secret_of_forms() -> str:
    """Return the secret that a form must contain, derived from a value that only this browser's session has."""
    known = request.cookies.get(TOKEN) or request.cookies.get(NONCE) or g.get("nonce")
    if not known:
        known = g.nonce = token_urlsafe(32)
    return sha256(f"memento form {known}".encode()).hexdigest()


def _require_own_form() -> None:
    """Raise `Forbidden` for a form from elsewhere or from another session."""
    _require_own_address()
    is_known = request.cookies.get(TOKEN) or request.cookies.get(NONCE)
    if not is_known or not compare_digest(request.form.get("csrf", "").encode(), _secret_of_forms().encode()):
        raise Forbidden("this form is out of date: load the page again, and send it once more")


def _require_own_address() -> None:
    """Raise `Forbidden` if the browser says that the request comes from a page of another address."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site == "same-origin":
        return
    if site not in (None, "none") or (origin is not None and urlsplit(origin).netloc != request.host):
        raise Forbidden("a page of another address may not do this")


def _is_secure() -> bool:
    return request.is_secure or request.headers.get("X-Forwarded-Proto") == "https"


def _own_path(path: str | None) -> str:
    """Return the path if it is a safe path on this address, else `/`."""
    is_own = path and path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_own and path else "/"


def _find_wanted() -> str:
    """Return the page to show after signing in."""
    return _own_path(request.form.get("back")) if request.path == "/sign-in" else request.full_path.rstrip("?")


def _find_way_back() -> str | None:
    """Return the page of ours that led to this request, if any."""
    came_from = urlsplit(request.referrer or "")
    path = urlunsplit(("", "", came_from.path, came_from.query, ""))
    is_own = came_from.netloc == request.host and path != request.full_path.rstrip("?")
    return _own_path(path) if is_own else None


def _read_arguments(*names: str) -> dict[str, str]:
    """Return these parameters of the request, without empty ones; a page ignores all others."""
    return {name: value.strip() for name in names if (value := request.args.get(name)) and value.strip()}


def _to_form(values: Mapping[str, str], without: tuple[str, ...] = ()) -> MultiDict[str, str]:
    form = MultiDict((name, value) for name, value in values.items() if name not in without)
    if "tags" in form:
        form.setlist("tags", [one.strip() for one in form["tags"].split(",")])
    if chosen := namespace():
        form["namespace"] = chosen
    return form


def _locate(path: str, **arguments: object) -> str:
    """Return the address of a page, in the same namespace as this one."""
    chosen = {"namespace": namespace(), **arguments}
    known = {name: str(value) for name, value in chosen.items() if value not in (None, "")}
    return f"{path}?{urlencode(known)}" if known else path


def _locate_node(iri: str) -> str:
    return _locate(f"/memory/{quote(iri, safe=':')}")


def _question_of(region: Region) -> str:
    return " ".join(region.keywords[:4]) or region.label


def _show_time(at: datetime | str | None, zone: Any, form: str) -> Markup:
    """Return a time in a readable form, with the exact time as an attribute."""
    if not at:
        return Markup("–")
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            return Markup.escape(at)
    exact = at.astimezone(UTC).isoformat(timespec="seconds")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, at.astimezone(zone).strftime(form))


def _group_properties(described: Described) -> dict[str, list[str]]:
    """Return the values of a node's properties, by the last part of the property's IRI."""
    grouped: dict[str, list[str]] = {}
    for predicate, value in described.properties:
        grouped.setdefault(predicate.rpartition("/")[2].rpartition("#")[2], []).append(value)
    return grouped


def _list_links(described: Described, around: Neighbourhood) -> list[Link]:
    """List the links of a node, grouped by relation."""
    nodes = {one.iri: one for one in around.nodes}
    links = [
        Link(relation=_label_relation(one.relation), is_back=one.target == described.iri, node=nodes[other])
        for one in around.links
        if described.iri in (one.source, one.target)
        for other in [one.target if one.source == described.iri else one.source]
    ]
    return sorted(links, key=lambda one: (one.relation, one.is_back))


_USER = re.compile(r"(?P<opens>(?:^|[.!?]\s+)(?P<the>The user|USER)\b)|\b(?:the user|USER)\b")
_SAID_OF = re.compile(r"(?P<poss>['’]s)\b|\s(?P<verb>[a-z]+)\b")
_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do", "isn": "aren", "wasn": "weren", "hasn": "haven"}
_NO_VERBS = frozenset(("always", "sometimes", "perhaps", "besides", "thus", "this", "its", "his"))


def address_user(text: str) -> str:
    """
    Return a text for the user to read: "you", where a model wrote of "USER" in the third person.

    >>> address_user("USER works at Google."), address_user("Anna told USER's story."), address_user("USER")
    ('You work at Google.', 'Anna told your story.', 'you')
    """
    if text == "USER":
        return "you"
    parts, end = [], 0
    for found in _USER.finditer(text):
        opening = text[found.start() : found.start("the")] if found["opens"] else ""
        you, stop = ("You" if found["opens"] else "you"), found.end()
        after = _SAID_OF.match(text, stop)
        if after and after["poss"]:
            you, stop = f"{you}r", after.end()
        elif after and (after["verb"] in _VERBS or (found["opens"] and after["verb"].endswith("s"))):
            you, stop = f"{you} {_to_second_person(after['verb'])}", after.end()
        parts += [text[end : found.start()], opening, you]
        end = stop
    return "".join([*parts, text[end:]])


def _to_second_person(verb: str) -> str:
    """
    Return the form of a verb that follows "you".

    >>> [_to_second_person(one) for one in ("is", "has", "works", "carries", "watches", "misses", "always")]
    ['are', 'have', 'work', 'carry', 'watch', 'miss', 'always']
    """
    if verb in _VERBS or verb in _NO_VERBS or verb.endswith("ss"):
        return _VERBS.get(verb, verb)
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("shes", "ches", "sses", "xes", "zzes", "oes")) else verb[:-1]


@cache
def _labels() -> Mapping[str, str]:
    return {term.name: term.label for term in load_terms()}


def _label_relation(name: str) -> str:
    """Return the label of a relation: the ontology's, else the words of its name."""
    return _labels().get(name) or re.sub(r"(?<=[a-z\d])(?=[A-Z])", " ", name).replace("_", " ").lower()


def show_failure(pages: Pages, status: int, message: str) -> Response | None:
    """Return a failure as a page if the client wants a page; None for programs. For an unknown address, a browser gets a page."""
    is_shared = request.path.startswith(tuple(f"{one}/" for one in SHARED)) and request.method in ("GET", "HEAD")
    is_wanted = is_page() or is_shared or (status == 404 and not request.path.startswith(PROXIED))
    if not is_wanted or not prefers_html():
        return None
    return pages.answer_failure(status, message, asks_token=status == 401)


def find_site() -> Path | None:
    """Return the folder of the built site, in the wheel or in the checkout; None if there is none."""
    try:
        folder = assets.folder("site")
    except MissingPart:
        return None
    return folder if (folder / "index.html").is_file() else None


def _send_file(folder: Path, name: str) -> Response:
    """
    Answer with a file of the site, which a browser may cache and must revalidate.

    Raises:
        NoPage: the folder has no such file.
    """
    joined = None if "\0" in name else safe_join(str(folder), name or "index.html")
    path = Path(joined) if joined else folder
    if not path.is_file():
        raise NoPage
    response = Response(path.read_bytes(), content_type=SITE_TYPES.get(path.suffix, "text/plain; charset=utf-8"))
    response.headers["Cache-Control"] = "private, no-cache"
    response.add_etag()
    response.make_conditional(request)
    return response
