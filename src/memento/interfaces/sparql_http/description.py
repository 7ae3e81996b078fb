"""The Service Description at `/sparql`, for whoever asks without a query, and VoID at `/.well-known/void`."""

from __future__ import annotations

from flask import Blueprint, Response, request

from memento.interfaces.web.requests import graphs, namespace

ENDPOINT = "/sparql"


class Descriptions:
    """The address `/.well-known/void`."""

    def blueprint(self) -> Blueprint:
        """The route."""
        routes = Blueprint("sparql-description", __name__)
        routes.route("/.well-known/void", methods=["GET"])(self.void)
        return routes

    def void(self) -> Response:
        """How much the graphs hold that the caller sees."""
        return _describe_said(*graphs().void(_endpoint(), accept=_accept(), namespace=namespace()))


def described() -> Response:
    """What the endpoint is, in the RDF that Accept likes best."""
    return _describe_said(*graphs().description(_endpoint(), accept=_accept(), namespace=namespace()))


def _describe_said(body: bytes, media: str) -> Response:
    response = Response(body, content_type=f"{media}; charset=utf-8" if media.startswith("text/") else media)
    response.headers["Vary"] = "Accept"
    return response


def _endpoint() -> str:
    return f"{request.host_url.rstrip('/')}{ENDPOINT}"


def _accept() -> str:
    return request.headers.get("Accept", "")
