"""Answers the operation of the laboratory."""

from __future__ import annotations

from memento.errors import Forbidden
from memento.model import Inferred
from memento.plugins.lab.operations import Infer
from memento.plugins.lab.settings import InferenceSettings
from memento.service import Context
from memento.service.context import handles


@handles(Infer)
def infer(operation: Infer, context: Context) -> Inferred:
    """Update the inferred triples."""
    scope, readers = context.scope(operation.namespace), context.list_inferring()
    if not (readers and context.settings.of(InferenceSettings).on):
        raise Forbidden(
            "inference is switched off: set inference.on = true, which has no effect on a store behind an endpoint"
        )
    return context.stores.inferences.current(scope, context.stores.clock(), readers)
