PREFIX : <http://example.org/>
DELETE { ?s ?p ?o } INSERT { :ada :in "Lisbon" . GRAPH :moved { :ada :in "Lisbon" } } WHERE { ?s ?p ?o }
