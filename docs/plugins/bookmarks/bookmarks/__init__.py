"""A plug-in for Memento: keeps the bookmarks of a browser as memories, lists them, and ranks them higher if you like."""

from memento.plugin import Plugin

plugin = Plugin(
    name="bookmarks",
    summary="Bookmarks of a browser as memories.",
    operations="bookmarks.operations",
    handlers="bookmarks.handlers",
    before_write="bookmarks.rename:tag_renamed",
    infers="bookmarks.links:infer_addresses",
    pages={"/bookmarks": "bookmarks.page:show_bookmarks"},
    gauges="bookmarks.gauges:count_bookmarks",
    signals={"address": "bookmarks.signals:score_address"},
    importers={"bookmarks": "bookmarks.importer:BOOKMARKS"},
)
