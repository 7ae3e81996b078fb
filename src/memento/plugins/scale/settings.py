"""The settings of a store and an index that several nodes share; those of which one is used are Memento's own."""

from __future__ import annotations

from dataclasses import dataclass

from memento import settings
from memento.errors import SettingsError
from memento.settings import Amount, Natural, Positive, Settings, Span, check_url, knob, refuse

NODES, ENGINES = "sparql", ("lance", "milvus")
"""The store that nodes share, by its name in the settings, and the engines that hold an index."""

ALONE = (
    'index.kind = "lance" and "milvus" are for a store that several nodes share: set store.kind = "sparql" with the addresses of '
    'one, such as that of `memento store serve`, or leave index.kind = "faiss"'
)
SHARED_INDEX = (
    'store.kind = "sparql" needs an index that its nodes share: set index.kind = "lance" and index.uri to a folder or an object '
    'store that they all reach, or index.kind = "milvus"'
)


@dataclass(frozen=True, slots=True)
class StoreSettings(settings.StoreSettings):
    """The store, if it is behind an endpoint."""

    query_url: str = knob("", "address of that endpoint for queries, as http://store:7878/query")
    update_url: str = knob("", "its address for updates, as http://store:7878/update")
    token: str = knob("", "sent to both as a bearer token", secret=True)
    probe: bool = knob(
        True,
        "refuse at the start a store that would lose memories or show them to others; turn it off only for a node that "
        "uses the store alone",
    )
    timeout_s: Span = knob(
        60.0,
        "seconds that one request to the store may take, and that a change is tried again while other nodes are first",
    )
    start_s: Amount = knob(
        15.0, "seconds that a start waits for a store that cannot be reached yet, before it gives up"
    )
    snapshot_quads: Positive = knob(
        1_000_000,
        "most statements of a shared store that are copied to answer a SPARQL query; with more the query is refused",
    )

    def check(self, every: Settings) -> None:
        """Raise `SettingsError` if a setting is missing, or contradicts others."""
        if self.kind != NODES:
            return
        for key in ("query_url", "update_url"):
            if not getattr(self, key):
                refuse("store", key, "must be the address of the SPARQL endpoint")
            check_url("store", key, getattr(self, key))
        if every.index.kind not in ENGINES:
            raise SettingsError(SHARED_INDEX)
        if every.encryption.on:
            refuse("encryption", "on", "must be false where the store is a SPARQL endpoint: encrypt its disk")


@dataclass(frozen=True, slots=True)
class IndexSettings(settings.IndexSettings):
    """The index, if an engine holds it."""

    uri: str = knob(
        "",
        "its location: a folder or s3://bucket/path for lance; http://host:19530 or a file for milvus; empty for faiss",
    )
    token: str = knob(
        "",
        "credentials for Milvus or LanceDB's own service, as user:password; empty where none are needed",
        secret=True,
    )
    pool: Positive = knob(40, "memories that each search in the index contributes to a question; unused by faiss")
    whole: Natural = knob(
        2_000, "nodes up to which a namespace is loaded whole, so that a search misses nothing; unused by faiss"
    )

    def check(self, every: Settings) -> None:
        """Raise `SettingsError` if the address is missing, or has no use."""
        if self.kind == "faiss" and self.uri:
            refuse("index", "uri", "must be empty for faiss, whose index is in the data folder")
        if self.kind in ENGINES and not self.uri:
            where = "a folder or s3://bucket/path" if self.kind == "lance" else "http://host:19530 or a file"
            refuse("index", "uri", f"is required for {self.kind}: {where}")
        if self.kind in ENGINES and every.store.kind != NODES:
            raise SettingsError(ALONE)
