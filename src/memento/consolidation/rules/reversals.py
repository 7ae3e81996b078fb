"""
Find what a draft reverses without saying that it ends: an ending that was undone ("back at Acme"), a wish that came true, a changed
habit.

*But:* both memories must name the same thing, or be the same sentence except for one complement.
"""

from __future__ import annotations

from datetime import datetime

from memento.consolidation.agents import USER, Draft, Existing
from memento.consolidation.rules.patterns import replace_by_sign, signs
from memento.consolidation.rules.relations import relations, same_value, speaks_of
from memento.text.mood import reading
from memento.text.words import PREPOSITIONS, normal, stems

_UNATTACHED = frozenset({"single", "divorced", "widowed", "separated"})
_COPULA = frozenset(
    {"is", "are", "costs", "cost", "starts", "ends", "begins", "opens", "closes", "expires", "runs", "takes"}
)
_MOVING = stems("moved shifted changed switched now is are on at to has been")
_REPEATED = frozenset({"every", "each", "once", "twice"})


def is_short(content: str) -> bool:
    """Tell whether a memory is one sentence; longer memories may share words by chance."""
    return len(content.split()) <= 22 and not signs()["goes-on"].search(content)


def is_taken_up_again(draft: Draft, old: Existing) -> bool:
    """Tell whether a memory states the end of what the draft says has resumed: "USER left Acme" and "USER is back at Acme"."""
    if not signs()["again"].search(draft.content) or draft.ends:
        return False
    content = old.memory.content
    if reading(draft.content).mood != "fact" or reading(content).mood == "plan":
        return False
    shared = [name for name in draft.about if name != USER and name in old.about]
    return any(_is_over(name, content) for name in shared)


def _is_over(name: str, content: str) -> bool:
    """Tell whether a memory says that the thing was left, or that the person stepped back."""
    text = replace_by_sign(name, content)
    return any(signs()[sign].search(text) for sign in ("left-named", "named-over", "user-and-named"))


def has_come_true(draft: Draft, old: Existing) -> bool:
    """Tell whether a memory is a wish or plan of the user that the draft says was fulfilled, about the same named thing."""
    content = old.memory.content
    known = reading(content)
    if known.mood not in ("possible", "plan") or not signs()["wishes"].search(content) or not _speaks_of_user(content):
        return False
    now = reading(draft.content)
    if now.mood != "fact" or now.tense != "past" or not _speaks_of_user(draft.content) or draft.ends:
        return False
    shared = {name for name in draft.about if name != USER} & {name for name in old.about if name != USER}
    if not shared:
        return bool(signs()["did-it"].search(draft.content)) and len(stems(content) & stems(draft.content)) >= 2
    return bool(relations(content) & relations(draft.content))


def is_given_up(draft: Draft, old: Existing) -> bool:
    """Tell whether a memory is a plan or an idea of the user that the draft says will not happen."""
    content = old.memory.content
    if reading(content).mood not in ("possible", "plan") or not signs()["decided-against"].search(draft.content):
        return False
    if not _speaks_of_user(content) or not _speaks_of_user(draft.content):
        return False
    shared = {*draft.about} & {*old.about} - {USER}
    return bool(shared and relations(content) & relations(draft.content))


def is_turned_round(draft: Draft, old: Existing) -> bool:
    """Tell whether both are the same sentence, one of them denied, and the draft says that it now holds."""
    how = reading(draft.content)
    if not how.changed or how.mood != "fact" or how.tense != "present":
        return False
    new, known = draft.content, old.memory.content
    if bool(signs()["denied"].search(new)) == bool(signs()["denied"].search(known)):
        return False
    one, other = (stems(signs()["denied"].sub("", signs()["loose"].sub("", text))) for text in (new, known))
    return len(one) >= 2 and one == other


def _speaks_of_user(content: str) -> bool:
    return (speaks_of(content) or "").startswith(USER)


def is_put_otherwise(draft: Draft, old: Existing, now: datetime) -> bool:
    """
    Tell whether both memories are the same sentence about a lasting state, except for the last complement.

    "USER prefers calls in the morning" and "USER now prefers calls in the afternoon" state a habit, so the new one must say that it
    is a change; "the desk is on the third floor" and "… on the fifth" cannot both hold.
    """
    how, known = reading(draft.content), reading(old.memory.content)
    if how.mood != "fact" or known.mood != "fact" or how.additional or "present" not in (how.tense, known.tense):
        return False
    if how.tense != known.tense or (old.memory.event_at and old.memory.event_at < now):
        return False
    one, other = _plain(draft.content), _plain(old.memory.content)
    common = next(
        (at for at, (new, before) in enumerate(zip(one, other, strict=False)) if new != before),
        min(len(one), len(other)),
    )
    if common < 3 or common == len(one) or common == len(other):
        return False
    left, right = one[common:], other[common:]
    if (
        len(left) > 4
        or len(right) > 4
        or set(left) & set(right) - {"the", "a", "of", "floor", "week", "times", "o'clock"}
    ):
        return False
    copula = common >= 3 and any(word in _COPULA for word in one[:common]) and one[common - 1] in PREPOSITIONS | _COPULA
    numbers = bool(signs()["figure"].match(left[0]) and signs()["figure"].match(right[0]))
    if copula and (one[0] in ("the", "user's") or numbers):
        return how.changed or draft.corrects or numbers or one[common - 1] in ("in", "on", "at")
    placed = (
        one[common - 1] in PREPOSITIONS | _REPEATED | {"the"}
        or numbers
        or (left[0] in PREPOSITIONS and left[0] == right[0])
    )
    return (how.changed or draft.corrects) and placed


def keeps_other_hours(draft: Draft, old: Existing) -> bool:
    """Tell whether both say when the same thing recurs, on other days or at other hours, and the draft says that this is new."""
    how, known = reading(draft.content), reading(old.memory.content)
    if how.mood != "fact" or not (how.changed or draft.corrects) or known.mood != "fact" or known.tense == "past":
        return False
    if how.additional or (how.tense == "past" and not signs()["times-moved"].search(draft.content)):
        return False
    for when in (signs()[sign] for sign in ("weekday", "part-of-day", "hour")):
        new, before = {*when.findall(draft.content.lower())}, {*when.findall(old.memory.content.lower())}
        if new and before and before - new:
            one = stems(when.sub("", signs()["loose"].sub("", draft.content.lower()))) - _MOVING
            shared = one & stems(old.memory.content)
            return len(shared) >= 2 or (bool(one) and one <= shared and _speaks_of_user(draft.content))
    return False


def _plain(content: str) -> list[str]:
    """List the words of a memory without optional ones."""
    return normal(signs()["loose"].sub("", signs()["opens-with-time"].sub("", content))).split()


def stage(content: str) -> int:
    """Return how committed a couple is: 1 seeing each other, 2 engaged, 3 married; 0 if nothing is said."""
    return next(
        (3 - at for at, words in enumerate(("married", "engaged", "seeing")) if signs()[words].search(content)), 0
    )


def changes_status(draft: Draft, old: Existing) -> bool:
    """
    Tell whether one person is first said to be with somebody and then single, or the reverse, or an engaged couple has married.
    """
    if draft.slot == old.memory.slot == "partner" and same_value(draft.slot_value or "", old.memory.slot_value or ""):
        return stage(draft.content) > stage(old.memory.content) > 1
    pair = (draft.slot or "", old.memory.slot or "")
    status, other = (draft, old.memory) if pair[0] == "relationship status" else (old.memory, draft)
    if set(pair) != {"relationship status", "partner"}:
        return False
    value = (status.slot_value or "").lower()
    return value in _UNATTACHED and (other.slot_value or "") != ""
