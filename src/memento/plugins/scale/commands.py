"""The commands of several nodes: serve, test and adopt a shared store."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from memento.interfaces.cli.admin import store_group
from memento.interfaces.cli.base import FAILED, USAGE, Chosen, ShellCommand
from memento.interfaces.cli.views import Json, clean, dim

BY_HAND: Mapping[str, str] = {"probe_store": "store probe"}


def show_probe(probed: Json) -> str:
    """Show a row for each finding, with request and answer where it is not `ok`, and the verdict."""
    colours = {"ok": "green", "failed": "red", "unknown": "yellow"}
    lines = []
    for one in probed["findings"]:
        outcome = click.style(
            f"{'fails' if one['outcome'] == 'failed' else one['outcome']:<8}", fg=colours[one["outcome"]]
        )
        lines.append(f"{outcome}{'needed' if one['is_needed'] else 'wished':<8}{one['name']}")
        if one["outcome"] != "ok":
            lines += [
                f"        {dim(name):<8} {clean(one[key])}" for name, key in _SHOWN_OF_FINDING.items() if one[key]
            ]
    return "\n".join([*lines, f"{probed['query_url']}: {clean(probed['verdict'])} ({probed['seconds']:.1f} s)"])


_SHOWN_OF_FINDING = {"asked": "asked", "answer": "answered", "so": "why"}


@store_group.command("serve")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; one that is not loopback needs a token.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=7878, show_default=True, help="0 picks a free one.")
@click.option(
    "--token",
    envvar="MEMENTO_STORE_TOKEN",
    default="",
    help="The token that nodes must send.  [env: MEMENTO_STORE_TOKEN]",
)
def serve_shared_store(folder: Path, host: str, port: int, token: str) -> None:
    """Serve the graphs of FOLDER to several nodes until you stop it: `oxigraph serve`, with one update at a time."""
    from memento.plugins.scale.server import serve_store
    from memento.telemetry import configure_logging

    configure_logging()
    serve_store(folder, host, port, token, lambda address: click.echo(f"The store is ready at {address}"))


@store_group.command("adopt")
@click.pass_obj
def adopt_store(chosen: Chosen) -> None:
    """
    Write this program's ontology and this node's settings to the shared store, for all nodes.

    Nodes that cannot read that ontology, or use another embedder, can no longer write until you upgrade them or change their
    settings: stop them first. An index with vectors of another embedder is emptied; the next node that starts fills it again.
    """
    from memento.graph.version import read_own_version
    from memento.plugins.scale.node import adopt_shared_store

    before = adopt_shared_store(chosen.settings())
    click.echo(
        f"The store has the ontology {read_own_version()} (before: {before or 'none'}), and the settings of this node."
    )


@store_group.command("probe")
@click.argument("query_url", metavar="QUERY_URL")
@click.argument("update_url", metavar="UPDATE_URL")
@click.option(
    "--token",
    envvar="MEMENTO_STORE_TOKEN",
    default="",
    help="The bearer token for both URLs.  [env: MEMENTO_STORE_TOKEN]",
)
@click.option("--quick", is_flag=True, help="Test only what would lose or leak memories; takes a second.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def probe_endpoint(query_url: str, update_url: str, token: str, quick: bool, as_json: bool) -> None:
    """
    Test whether a SPARQL endpoint can store a memory; exit code 1 when it cannot, 2 when it cannot be reached.

    The test takes about 5 s. It writes only to graphs below urn:memento:probe:, which it removes at the end.
    """
    import signal

    from memento.codec import plain
    from memento.plugins.scale.probe import probe_store

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that SIGTERM removes the graphs too
    try:
        found = probe_store(query_url, update_url, token=token, quick=quick)
    finally:
        signal.signal(signal.SIGTERM, before)
    answer = plain(found)
    click.echo(json.dumps(answer, ensure_ascii=False) if as_json else show_probe(answer))
    if not answer["fit"]:
        sys.exit(FAILED if answer["reachable"] else USAGE)


for _one in (serve_shared_store, adopt_store, probe_endpoint):
    assert isinstance(_one, ShellCommand)
    _one.plugin = "scale"
