"""Cases as one looks at them: one with its steps and verdicts, many in a listing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

import numpy as np

from memento.backends import Backends
from memento.cases import run as runs
from memento.cases.domain import Domain
from memento.errors import NotFound
from memento.library import named
from memento.model import CaseShown, TaskStep, Verdict
from memento.ports import Row
from memento.vocabulary import IRI


def described(case: str, domain: Domain, name: str, parts: Backends) -> CaseShown:
    """Everything about one case, a forgotten one too; raises `NotFound`."""
    found = _shown([named(case)], domain, name, parts, steps=True)
    if not found:
        raise NotFound(f"there is no case <{case}> in this domain")
    return found[0]


def listed(limit: int, offset: int, domain: Domain, name: str, parts: Backends) -> tuple[CaseShown, ...]:
    """A page of the cases of a domain, the latest finished first."""
    bank = domain.bank
    rows = np.flatnonzero(bank.alive)
    latest = rows[np.lexsort((-rows, -bank.at[rows]))][offset : offset + limit]
    return _shown([bank.iris[row] for row in latest], domain, name, parts, steps=False)


def _shown(iris: Sequence[IRI], domain: Domain, name: str, parts: Backends, *, steps: bool) -> tuple[CaseShown, ...]:
    if not iris:
        return ()
    rows = {row["case"]: row for row in parts.graph.select("cases/listed", [domain.graph], case=iris)}
    links: dict[Any, list[Row]] = {}
    for row in parts.graph.select("cases/linked", [domain.graph], case=iris):
        links.setdefault(row["case"], []).append(row)
    return tuple(_one(rows[iri], links.get(iri, []), domain, name, parts, steps) for iri in iris if iri in rows)


def _one(row: Row, links: Sequence[Row], domain: Domain, name: str, parts: Backends, steps: bool) -> CaseShown:
    iri, way = cast(IRI, row["case"]), cast("IRI | None", row.get("trajectory"))
    place = domain.bank.row(iri)
    uses = int(domain.bank.uses[place]) if place is not None else 0
    told: tuple[TaskStep, ...] = ()
    if way and steps:
        with suppress(NotFound):  # the way alone cannot be read
            told = runs.read(way, domain, parts).told("").steps
    return CaseShown(
        iri=iri,
        task=str(row["task"]),
        plan=str(row["plan"]),
        domain=name,
        at=cast(datetime, row["at"]),
        reward=cast("float | None", row.get("reward")),
        q=cast("float | None", row.get("q")),
        earned=float(domain.bank.earned[place]) / uses if place is not None and uses else None,
        uses=uses,
        about=tuple(cast(IRI, link["about"]) for link in links if "about" in link),
        derived_from=tuple(cast(IRI, link["derivedFrom"]) for link in links if "derivedFrom" in link),
        trajectory=way,
        steps=told,
        verdicts=tuple(_verdict(link) for link in links if "reward" in link),
        expired_at=cast("datetime | None", row.get("expiredAt")),
    )


def _verdict(row: Row) -> Verdict:
    return Verdict(
        reward=float(str(row["reward"])),
        at=cast(datetime, row["at"]),
        outcome=cast(Any, row.get("outcome")),
        efficiency=cast("float | None", row.get("efficiency")),
        score=cast("float | None", row.get("score")),
        reason=cast("str | None", row.get("reason")),
    )
