"""A Flask application with one empty view, in the same stack as the service: the minimum cost of every request."""

from __future__ import annotations

import socket
import sys
from typing import Any, cast

import uvicorn
from a2wsgi import WSGIMiddleware
from flask import Flask, Response

from memento.interfaces.web.connection import watch
from memento.interfaces.web.server import configuration


def main(port: int) -> None:
    """Serve it until the process is told to stop."""
    app = Flask(__name__)

    @app.get("/")
    def nothing() -> Response:
        return Response(b'{"head":{},"boolean":true}', content_type="application/json")

    served = watch(cast(Any, WSGIMiddleware(cast(Any, app), workers=256)))
    with socket.create_server(("127.0.0.1", port), backlog=1024) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        configured = configuration(served)
        configured.lifespan = "off"
        uvicorn.Server(configured).run(sockets=[listener])


if __name__ == "__main__":
    main(int(sys.argv[1]))
