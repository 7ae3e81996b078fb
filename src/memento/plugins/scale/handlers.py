"""Answers the operation of several nodes."""

from __future__ import annotations

from memento.plugins.scale.nouns import Probed
from memento.plugins.scale.operations import ProbeStore
from memento.plugins.scale.probe import probe_store
from memento.service import Context
from memento.service.context import handles


@handles(ProbeStore)
def probe_endpoint(operation: ProbeStore, context: Context) -> Probed:
    """Ask an endpoint for the features that a store needs."""
    context.require_own_machine("it sends requests to any address from this machine")
    return probe_store(operation.query_url, operation.update_url, token=operation.token or "", quick=operation.quick)
