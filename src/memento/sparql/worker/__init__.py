"""The processes that evaluate foreign SPARQL: jobs, who goes first, the pool, and the child itself."""
