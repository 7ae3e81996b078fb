"""An object store for tests and benchmarks: `moto` in a process of its own, in memory, which counts what it is asked."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote
from urllib.request import urlopen

from endpoints import free_port

_REGION = "us-east-1"
_COUNTED = "/-/requests"  # what is answered with how often it was asked


def client() -> Any:
    return import_module("boto3").client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name=_REGION)


def count_requests() -> int:
    """How many requests there were so far; 0 to a store that does not count them."""
    try:
        with urlopen(f"{os.environ['AWS_ENDPOINT_URL']}{_COUNTED}") as answer:
            return int(answer.read())
    except (KeyError, ValueError, OSError):
        return 0


@contextmanager
def serve_bucket(name: str) -> Iterator[None]:
    """Serve a bucket of S3, with its address and keys in the environment, until the block ends."""
    port = free_port()
    server = get_context("spawn").Process(target=serve_objects, args=(port,), daemon=True)
    server.start()
    address = f"http://127.0.0.1:{port}"
    said = {"AWS_ENDPOINT_URL": address, "AWS_ENDPOINT": address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": _REGION}
    keys = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench"}
    try:
        with patch.dict(os.environ, {**said, **keys}):
            _create(name)
            yield
    finally:
        server.kill()
        server.join()


def _create(bucket: str) -> None:
    error = import_module("botocore.exceptions").BotoCoreError
    for _ in range(120):
        try:
            client().create_bucket(Bucket=bucket)
            return
        except error:
            time.sleep(0.25)
    raise SystemExit("moto does not answer")


def serve_objects(port: int) -> None:
    """Serve an object store in memory, and count what is asked of it."""
    import logging

    from moto.s3.models import s3_backends
    from werkzeug.serving import WSGIRequestHandler, run_simple

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = import_module("moto.server")
    moto = server.DomainDispatcherApplication(server.create_backend_app)

    count = itertools.count()

    def counted(environ: Any, start: Any) -> Any:
        if environ["PATH_INFO"] == _COUNTED:
            start("200 OK", [("Content-Type", "text/plain")])
            return [repr(count)[6:-1].encode()]
        next(count)
        if environ["REQUEST_METHOD"] != "GET" or "HTTP_RANGE" not in environ:
            return moto(environ, start)
        # As moto answers, but that it reads the whole of an object for each part.
        bucket, _, name = environ["PATH_INFO"].lstrip("/").partition("/")
        key = s3_backends["123456789012"]["aws"].get_object(bucket, unquote(name))
        if key is None:
            return moto(environ, start)
        first, _, last = environ["HTTP_RANGE"].removeprefix("bytes=").partition("-")
        begin, end = (
            (int(first), min(int(last or key.size - 1), key.size - 1))
            if first
            else (key.size - int(last), key.size - 1)
        )
        with key.lock:
            key._value_buffer.seek(begin)
            data = key._value_buffer.read(end - begin + 1)
        headers = {
            "Content-Length": str(len(data)),
            "Content-Range": f"bytes {begin}-{end}/{key.size}",
            "ETag": key.etag,
        }
        start("206 Partial Content", [*headers.items(), ("Last-Modified", key.last_modified_RFC1123)])
        return [data]

    WSGIRequestHandler.protocol_version = "HTTP/1.1"  # else each request opens a connection
    run_simple("127.0.0.1", port, counted, threaded=True)
