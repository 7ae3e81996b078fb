"""Changes by somebody else: an update or a document, tried by a worker, judged, and written in one piece."""
