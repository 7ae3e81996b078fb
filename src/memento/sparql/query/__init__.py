"""A query of somebody else's on its way to a worker: read, prepared, and memory put into it."""
