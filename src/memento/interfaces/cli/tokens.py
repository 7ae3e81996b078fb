"""The commands for tokens: what lets other machines, other tenants and narrower rights in."""

from __future__ import annotations

import json

import click

from memento.interfaces.cli.base import Chosen, common, main


@main.group("token")
def token() -> None:
    """Tokens: who may use the service from elsewhere, and for what."""


@token.command("create")
@click.argument("name")
@click.option("--tenant", default="local", show_default=True, help="Whose memory it opens.")
@click.option("--namespace", "namespaces", multiple=True, metavar="NAME", help="May be repeated; default all of them.")
@click.option("--scope", default="read", show_default=True, help="read, write or admin; each includes those before it.")
@click.pass_obj
def create(chosen: Chosen, name: str, tenant: str, namespaces: tuple[str, ...], scope: str) -> None:
    """Make a token and print it, this once: only its digest is kept."""
    from memento.access import Tokens, parse_right
    from memento.settings import check_namespace
    from memento.time import now

    wanted = [check_namespace(one) for one in namespaces]
    made = Tokens(chosen.folder.tokens).create(
        name, tenant=tenant, namespaces=wanted, right=parse_right(scope), at=now()
    )
    click.echo(json.dumps({"name": name, "token": made}) if chosen.as_json else made)


@token.command("list")
@click.pass_obj
def listed(chosen: Chosen) -> None:
    """The tokens that are good, oldest first."""
    from memento.access import Tokens
    from memento.codec import plain

    issued = Tokens(chosen.folder.tokens).list_issued()
    if chosen.as_json:
        shown = ("name", "tenant", "namespaces", "right", "created_at")
        click.echo(json.dumps([{key: plain(one)[key] for key in shown} for one in issued]))
        return
    if not issued:
        click.echo("No tokens yet: make one with `memento token create NAME`.")
    for one in issued:
        spaces = ", ".join(one.namespaces) or "all namespaces"
        click.echo(f"{one.name}: {one.right}, tenant {one.tenant}, {spaces}, since {one.created_at[:10]}")


@token.command("revoke")
@click.argument("name")
@click.pass_obj
def revoke(chosen: Chosen, name: str) -> None:
    """Let a token open nothing any more, from the next request on."""
    from memento.access import Tokens

    Tokens(chosen.folder.tokens).revoke(name)
    click.echo(json.dumps({"revoked": name}) if chosen.as_json else f"Revoked {name}.")


common(create, without="namespace")
for listing in (listed, revoke):
    common(listing)
