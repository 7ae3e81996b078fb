"""
Several nodes over one memory: the graph behind a SPARQL 1.1 endpoint, the index in an engine that all nodes reach.

*Flow:* `node` opens a memory over both. `endpoint` speaks SPARQL over HTTP; `remote` is the store, and `system` how nodes
write to it and learn that others have written; `agreement` is what they must have in common, `probe` tests an endpoint.
`pool` ranks in what a question loads from an `engine`, of which `databases` has two; `walk` lists what it does not load. `server`
serves a store.
"""

from memento.plugin import Plugin

plugin = Plugin(
    name="scale",
    summary="Several nodes over one memory: a store behind SPARQL, an index in LanceDB or Milvus.",
    operations="memento.plugins.scale.operations",
    handlers="memento.plugins.scale.handlers",
    settings={
        "store": "memento.plugins.scale.settings:StoreSettings",
        "index": "memento.plugins.scale.settings:IndexSettings",
    },
    stores={"sparql": "memento.plugins.scale.node:open_node"},
    indexes={
        "lance": "memento.plugins.scale.node:refuse_index",
        "milvus": "memento.plugins.scale.node:refuse_index",
    },
    groups={},
    commands="memento.plugins.scale.commands",
)
