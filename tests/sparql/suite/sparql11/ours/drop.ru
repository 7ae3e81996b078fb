PREFIX : <http://example.org/> DROP GRAPH :moved
