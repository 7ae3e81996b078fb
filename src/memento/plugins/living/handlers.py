"""Answer the operations on how strong memories are, and s-expressions."""

from __future__ import annotations

from typing import Any

from memento.archive.read import list_memories
from memento.backends import Backends
from memento.codec import plain
from memento.consolidation.context import load_contents
from memento.errors import InputError, NotFound
from memento.iris import IRI, MEM, TYPE, parse_iri, policy_iri
from memento.model import Association, Change, Fading, Listed, Scope
from memento.model import Strength as Numbers
from memento.operations import Operation
from memento.operations.care import Export
from memento.plugins.living import activation, operations
from memento.plugins.living import strength as strengths
from memento.plugins.living.nouns import Activated, Archived, Evaluated, FadingMemory, Followed, Item
from memento.plugins.living.settings import SexprSettings
from memento.plugins.living.sexpr.evaluation import Evaluation
from memento.plugins.living.sexpr.forms import Form, print_form
from memento.plugins.living.sexpr.verbs import VERBS, Host
from memento.service.context import Context, handle, handles
from memento.service.handlers.care import export_pieces, take_in
from memento.time import now

_MOST_NAME = 100


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


@handles(operations.Evaluate)
def evaluate(operation: operations.Evaluate, context: Context) -> Evaluated:
    """Check and evaluate expressions."""
    options, expression = context.settings.of(SexprSettings), operation.expression
    if not isinstance(expression, str):
        raise InputError(f"the expression must be text, not {type(expression).__name__}")
    evaluation = Evaluation(VERBS, options.fuel, options.depth, options.chars, _host(operation, context))
    forms = evaluation.check_forms(expression)
    if evaluation.may_write(forms):
        context.access.needs("write")
        context.require_writable()
    values = evaluation.evaluate_forms(forms)
    return Evaluated(
        values=tuple(map(_as_json, values)), text=print_form(_simplify(values[-1])), calls=evaluation.calls
    )


@handles(operations.RecallItems)
def recall_items(operation: operations.RecallItems, context: Context) -> tuple[Item, ...]:
    """Find memories by activation."""
    context.require_text(operation.query, "query")
    scope, used = context.scope(operation.namespace), context.service.reinforcement
    return activation.recall_by_activation(operation.query, operation.limit, scope, now(), context.stores, used)


@handles(operations.GetItem)
def get_item(operation: operations.GetItem, context: Context) -> Item:
    """Look up one memory."""
    scope = context.scope(operation.namespace)
    items = activation.read_items([parse_iri(operation.iri)], scope, context.stores)
    if IRI(operation.iri) not in items:
        raise NotFound(f"there is no memory <{operation.iri[:200]}> in the namespace {scope.namespace!r}")
    return items[IRI(operation.iri)]


@handles(operations.Policies)
def policies(operation: operations.Policies, context: Context) -> dict[str, str]:
    """Look up the policies."""
    return _read_policies(context.scope(operation.namespace), context.stores)


@handles(operations.SetPolicy)
def set_policy(operation: operations.SetPolicy, context: Context) -> str:
    """Check the expression of a policy, and store it."""
    scope, options = context.scope(operation.namespace, "write"), context.settings.of(SexprSettings)
    try:
        Evaluation(VERBS, options.fuel, options.depth, options.chars, _host(operation, context)).check_forms(
            operation.expression
        )
    except InputError as error:
        raise InputError(f"in the policy: {error}") from error
    with context.service.writing:
        _keep_policy(operation.name, operation.expression, scope, context.stores)
    return operation.expression


def _host(operation: Operation[Any], context: Context) -> Host:
    """Return the interface to the memory that the verbs of an expression use."""
    namespace = context.scope(operation.namespace).namespace

    def count_current() -> int:
        return context.stores.indexes.count_current([context.scope(namespace).graph], now())

    return Host(
        call=lambda one: handle(one, context),
        namespace=namespace,
        options=context.settings.of(SexprSettings),
        count_current=count_current,
        export=lambda only: export_pieces(Export("-", "nquads", namespace=namespace if only else None), context).pieces,
        load=lambda document: take_in(document, "the expression", "nquads", context, namespace=None),
    )


def _simplify(value: Any) -> Any:
    """Convert a value to records, lists and atoms only; parsed forms stay as they are."""
    match value:
        case Form():
            return value
        case dict():
            return {name: _simplify(one) for name, one in value.items()}
        case list() | tuple():
            return [_simplify(one) for one in value]
    return plain(value)


def _as_json(value: Any) -> Any:
    """Convert a value to JSON; a parsed form becomes its text."""
    return print_form(value) if isinstance(value, Form) else _simplify(value)


def _read_policies(scope: Scope, parts: Backends) -> dict[str, str]:
    """Read every policy that a reader of the scope sees, by name; a policy of the namespace overrides one of `main`."""
    found: dict[str, str] = {}
    for graph in reversed([scope.graph, *(one for one in scope.memory_graphs if one != scope.graph)]):
        rows = parts.graph.select("plugins/living/policies", [graph])
        found |= {str(row["name"]): str(row["expression"]) for row in rows}
    return dict(sorted(found.items()))


def _keep_policy(name: str, expression: str, scope: Scope, parts: Backends) -> IRI:
    """
    Store an expression under a name, replacing the previous one. Hold the write lock.

    Raises:
        InputError: an empty name, or one of more than 100 characters.
    """
    if not name.strip() or len(name) > _MOST_NAME:
        raise InputError(f"the name of a policy must have 1 to {_MOST_NAME} characters")
    iri = policy_iri(scope.graph, name)
    after = {
        (iri, TYPE, MEM.Policy, scope.graph),
        (iri, MEM.name, name, scope.graph),
        (iri, MEM.expression, expression, scope.graph),
    }
    rows = parts.graph.select("search/statements", [scope.graph], node=iri)
    before = {(iri, IRI(str(row["predicate"])), row["value"], scope.graph) for row in rows}
    change = Change(tuple(after - before), tuple(before - after))
    if change.adds or change.removes:
        parts.commit(change, scope)
    return iri
