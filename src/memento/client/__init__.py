"""A running service as a Python object, with the methods of `service.Memento`."""

from memento.client.calls import Client
from memento.client.connection import ROUTES, Answer, error_called

__all__ = ["ROUTES", "Answer", "Client", "error_called"]
