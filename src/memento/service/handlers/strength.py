"""Answer the operations on how strong memories are."""

from __future__ import annotations

from memento import strength as strengths
from memento.archive.read import list_memories
from memento.consolidation.context import load_contents
from memento.iris import IRI
from memento.model import Activated, Archived, Association, Fading, FadingMemory, Followed, Listed
from memento.model import Strength as Numbers
from memento.operations import strength as operations
from memento.service.context import Context, handles
from memento.time import now


@handles(operations.Strength)
def measure_strength(operation: operations.Strength, context: Context) -> Numbers:
    """Look up the strength of a memory."""
    scope = context.scope(operation.namespace)
    return strengths.read_strength(operation.iri, scope, context.stores, context.service.reinforcement)


@handles(operations.Feedback)
def feedback(operation: operations.Feedback, context: Context) -> Numbers:
    """Raise or lower a memory's energy."""
    scope, service = context.scope(operation.namespace, "write"), context.service
    with service.writing:
        numbers = strengths.record_feedback(
            operation.iri, operation.helped, scope, now(), context.stores, service.reinforcement
        )
    service.maps.record(scope, f"feedback, {'helped' if operation.helped else 'misled'}", IRI(operation.iri))
    return numbers


@handles(operations.Associate)
def associate(operation: operations.Associate, context: Context) -> Association:
    """Create an association between two memories, or strengthen it."""
    scope = context.scope(operation.namespace, "write")
    with context.service.writing:
        link = strengths.associate(
            operation.source,
            operation.target,
            operation.relation,
            operation.weight,
            scope,
            now(),
            context.stores,
        )
    context.service.maps.record(scope, "associated", link.source, link.target)
    return link


@handles(operations.Trace)
def trace(operation: operations.Trace, context: Context) -> tuple[Followed, ...]:
    """Follow links from one memory to the next."""
    scope = context.scope(operation.namespace)
    return strengths.trace_paths(operation.iri, operation.depth, scope, now(), context.stores)


@handles(operations.Activate)
def activate(operation: operations.Activate, context: Context) -> tuple[Activated, ...]:
    """Spread activation."""
    scope = context.scope(operation.namespace)
    return strengths.spread_activation(
        operation.seeds, operation.steps, operation.decay, operation.threshold, scope, now(), context.stores
    )


@handles(operations.Decay)
def decay(operation: operations.Decay, context: Context) -> Fading:
    """Decay energies; an energy used before decays from its last use on."""
    scope, service = context.scope(operation.namespace, "write"), context.service
    days = context.settings.living.half_life if operation.half_life_days is None else operation.half_life_days
    with service.writing:
        service.reinforcement.write_held()
        fading = strengths.decay_energies(days, scope, now(), context.stores)
    service.maps.record(scope, "energies faded")
    return fading


@handles(operations.Archive)
def archive(operation: operations.Archive, context: Context) -> Archived:
    """Archive exhausted memories, or only list them."""
    context.access.needs("write")
    scope, service = context.scope(operation.namespace, "read" if operation.dry_run else "write"), context.service
    with service.writing:
        service.reinforcement.write_held()
        exhausted = strengths.find_exhausted(scope, now(), context.stores, context.settings.living)
        if not operation.dry_run:
            strengths.archive_memories(exhausted, scope, now(), context.stores)
        contents = load_contents(exhausted, scope, context.stores)
    if exhausted and not operation.dry_run:
        service.maps.record(scope, f"archived {len(exhausted):,}")
    return Archived(memories=exhausted, dry_run=operation.dry_run, contents=contents)


@handles(operations.ListFading)
def list_fading(operation: operations.ListFading, context: Context) -> tuple[FadingMemory, ...]:
    """Look up a page of the memories that fade."""
    context.require_page(operation.limit, operation.offset)
    scope, knobs = context.scope(operation.namespace), context.settings.living
    return strengths.list_fading(
        operation.limit, operation.offset, scope, context.stores.clock(), context.stores, knobs
    )


@handles(operations.ListArchived)
def list_archived(operation: operations.ListArchived, context: Context) -> tuple[Listed, ...]:
    """Look up a page of archived memories."""
    context.require_page(operation.limit, operation.offset)
    scope, parts = context.scope(operation.namespace), context.stores
    rows = list_memories(scope, operation.limit, operation.offset, True, parts.clock(), parts, archived=True)
    return tuple(rows)


@handles(operations.Unarchive)
def unarchive(operation: operations.Unarchive, context: Context) -> Numbers:
    """Bring an archived memory back."""
    scope, service = context.scope(operation.namespace, "write"), context.service
    with service.writing:
        strengths.unarchive_memory(operation.iri, scope, now(), context.stores)
        service.maps.record(scope, "brought back", IRI(operation.iri))
        return strengths.read_strength(operation.iri, scope, context.stores, service.reinforcement)
