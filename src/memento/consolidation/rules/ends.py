"""
What a clause says no longer holds: "USER switched from VS Code to Zed" → VS Code.

*But:* only the words of the note; `decide.py` finds the beliefs that they end.
"""

from __future__ import annotations

import re
from datetime import datetime

from memento.consolidation.agents import USER
from memento.consolidation.rules.skeleton import DATE, NAME, Skeleton

_V = r"(?P<v>[^,;!?()\[\]]{1,60})"
_PREP = r"(?:at|for|in|with|on|to|as|of|from|by)"
_SWITCHED = (
    r"(?:switched|moved|migrated|changed|went|converted|transitioned|upgraded|relocated|transferred|swapped|has "
    r"switched|has moved|has migrated|has changed)"
)
_LEAVES = (
    r"(?:left|quit|resigned from|has left|has quit|(?:was|got|has been) (?:laid off|fired|sacked|let go) "
    r"(?:from|by)|stepped down from|departed from"
    r"|moved (?:away from|out of)|dropped out of|retired from|withdrew from|graduated from|has graduated from|unsubscribed from"
    r"|dropped|is (?:leaving|quitting))"
)
_DROPS = (
    r"(?:dropped|quit|has quit|ditched|dumped|wiped|scrapped|binned|abandoned|uninstalled"
    r"|got rid of|(?:gave|has given|is giving) up(?: on)?|cancelled|canceled|unsubscribed from"
    r"|deleted|sold|gave away|gave back|returned(?! (?:to|from|home)\b)|handed back|donated|threw (?:out|away)"
    r"|traded in|wrote off"
    r"|totalled|crashed|closed|shut down|shelved|archived|parted ways with|has sold|has cancelled|has closed"
    r"|has dropped|has ditched|has abandoned|stopped|broke up with|split up with|separated from"
    r"|divorced)"
)
_ENDS = tuple(
    (rule, re.compile(expression, re.IGNORECASE))
    for rule, expression in (
        ("switched", rf"\b{_SWITCHED}(?: [^\s,]+){{0,3}}? from (?P<v>[^,;]{{1,40}}?) (?:over )?to \S"),
        ("switched", rf"\b{_SWITCHED}(?: over| back)? to [^,;]{{1,40}}? from {_V}"),
        ("replaced", r"\b(?:replaced|swapped|traded|exchanged|swapped out) (?P<v>[^,;]{1,40}?) (?:with|by|for) \S"),
        ("replaced",
            r"\b(?:dropped|ditched|dumped|scrapped|binned|abandoned|left|gave up"
            r"|has left|has dropped|has ditched) (?P<v>[^,;]{1,40}?) (?:for|in favou?r of) "
            rf"{NAME}"),
        ("took-over", rf"^{NAME} (?:took|has taken|takes|is taking) over from (?P<v>{NAME})"),
        ("took-over",
            rf"^{NAME} (?:replaced|succeeded|has replaced|has succeeded|replaces"
            rf"|succeeds) (?P<v>{NAME})(?: as\b|$| {DATE})"
        ),
        ("took-over", rf"^(?P<v>{NAME}) (?:has been|was|is|got|is being) (?:replaced|succeeded) by "),
        ("left",
            r"\b(?:contract|job|position|role|internship|stint|time|placement|secondment|membership|subscription|account)"
            rf" (?:with|at|for|to) (?:the )?(?P<v>{NAME}) (?:has |is |was )?(?:ended|over|ran out|run out|expired"
            rf"|finished|up)\b"),
        ("took-over",
            rf"^(?P<v>{NAME}) (?:stepped down|resigned|has stepped down|has resigned|quit|has quit|has left"
            r"|left the (?:company|team|firm|business|organi[sz]ation|band|project)|retired|has retired"
            rf"|was let go|was fired|got fired|is gone)(?: as\b| btw\b|$|,| {DATE})"),
        ("returned",
            r"\b(?:came|come|comes|got|is|are|was|went)(?: back| home| out)*(?: home| back| out| discharged| released)"
            rf" (?:from|of) {_V}"),
        ("recovered", rf"\b(?:recovered from|got over|has recovered from|has got over) (?:{USER}'s |his |her |the )?{_V}"),
        ("recovered",
            rf"^(?:[Tt]he|{USER}'s) (?P<v>[a-z]+(?: [a-z]+)?) (?:(?:has )?(?:healed|came off|come off|went away"
            rf"|cleared up|gone)"
            r"|is (?:gone|over|healed|fixed|repaired|mended|cured|better))\b"),
        ("moved-out", rf"^(?P<v>{NAME}) (?:moved out|has moved out|is moving out)(?! of\b| to\b)"),
        ("left", rf"^(?:{USER} had )?(?:{USER}'s )?last day (?:at|with) (?:the )?(?P<v>{NAME})$"),
        ("died", rf"^(?:{USER}'s )?(?P<v>{NAME}) (?:died|has died|passed away|has passed away)\b"),
        ("folded",
            rf"^(?:[Tt]he )?(?P<v>{NAME}) (?:has |have )?(?:split up|disbanded|folded|closed down|shut down"
            rf"|went bankrupt|gone bankrupt|went bust"
            rf"|gone bust|went under|dissolved|closed for good|ceased trading|closed(?=$| {DATE}|,))"),
        ("parted", rf"^(?P<v>{NAME}) and {NAME} (?:have |has |are )?(?:broke|broken|split|separated|divorced"
            rf"|getting divorced|parted)\b"),
        ("recovered", rf"^{USER} is (?:over|off) (?:the |an? |{USER}'s )?{_V}"),
        ("recovered", rf"\bgot {USER}'s (?P<v>[a-z]+) (?:off|out|removed)\b"),
        ("stopped", rf"\b(?:goodbye|bye bye|farewell|so long|no more)(?: to)? {_V}"),
        ("stopped", rf"\b(?:let|lets|has let) (?:{USER}'s |the )?(?P<v>[^,;]{{1,40}}?) (?:lapse|expire|slide|go)\b"),
        ("dropped",
            rf"\b(?:gave|has given|donated|sold|handed|passed) (?:{USER}'s |the )?(?P<v>{NAME}"
            rf"|[a-z]+(?: [a-z]+)?)(?: [a-z]+)?(?: away| on)? to \S"),
        ("cancelled", rf"^(?:{NAME}|[Tt]hey|[Tt]he [a-z]+) (?:has |have )?(?:cancell?ed|called off) (?:{USER}'s |the )?{_V}"),
        ("left",
            r"\b(?:closed|cancell?ed|ended|terminated|gave up) (?:the |USER's )?(?:account|membership|subscription"
            r"|contract|season ticket|plan)"
            rf" (?:at|with|for|to|of) (?:the )?(?P<v>{NAME})"),
        ("left", rf"\b(?:resigned|stepped down|retired) as (?:the |an? |{USER}'s )?{_V}"),
        ("parted",
            rf"^(?P<v>{NAME}) and {USER} (?:have |are )?(?:broke|broken|split"
            rf"|separated|divorced|getting divorced|parted)\b"
        ),
        ("parted",
            rf"^{USER} and (?P<v>{NAME}) (?:have |are )?(?:broke|broken|split"
            rf"|separated|divorced|getting divorced|parted)\b"
        ),
        ("finished",
            rf"^(?P<v>{NAME}) (?:is|was|has been|got) (?:now )?(?:done|finished|shipped|completed?|cancell?ed"
            r"|abandoned|scrapped|killed|archived|discontinued"
            r"|shelved|shut down|wound down|dropped)\b"),
        ("cancelled",
            rf"^(?:[Tt]he|{USER}'s) (?P<v>[a-z]+(?: [a-z]+)?)(?: (?:to|with|in|at|for) (?:{NAME}|[a-z]+))? (?:is|was"
            rf"|has been|got)"
            r" (?:cancell?ed|called off|off)\b"),
        ("cancelled",
            rf"\b(?:cancell?ed|called off|backed out of|pulled out of) (?:{USER}'s "
            rf"|the )?(?:trip|flight|visit|talk|registration"
            rf"|ticket|tickets|holiday|appointment|booking|reservation)s? (?:to|for|at|with|in) (?:the )?{_V}"),
        ("preferred",
            r"\b(?:prefers?|uses?|chose|chooses|picked|likes?|favou?rs?|goes with|went with|is using|recommends"
            r"|loves?|drinks?|eats?|reads?|plays?|wants|is) (?:[^,;]{1,40}?) (?:over|instead of|rather than"
            rf"|in place of|more than) {_V}"),
        ("preferred",
            rf"^(?:{USER}|{NAME}|{USER}'s [a-z]+)(?: and others)? \w+ [^,;]{{1,50}}? (?:instead of|in place of"
            rf"|rather than) {_V}"),
        ("no-longer",
            r"\bno longer (?:(?:uses?|works?|lives?|likes?|loves?|has|have|owns?|plays?|drives?|drinks?|eats?"
            r"|speaks?|stud(?:y|ies)|teaches|leads?|manages?|reports?|is|are|enjoys?|wants?|needs?|runs?|reads?"
            rf"|prefers?|attends?|dates?|goes|\w+s) )?(?:(?:an? |the )?{_PREP} )?{_V}"),
        ("no-longer",
            r"\b(?:doesn't|does not|don't|do not|isn't|is not|aren't|are not|hasn't|haven't) (?:(?:use|work|live"
            r"|like|love|have|own|play|drive|drink|eat|speak|study|teach|lead|manage|report|enjoy|want|need|run"
            rf"|read|prefer|attend|date|go|\w+ing) )?(?:{_PREP} )?{_V}(?:,[^\x00]*)?\x00"),
        ("stopped",
            r"\b(?:stopped|quit|gave up|has stopped|has quit|is done|is finished|ceased|finished|has finished"
            r"|completed) (?:(?:using|working|living|drinking|eating|playing|reading|learning|studying|smoking"
            r"|taking|going|driving|teaching|running|seeing|dating|watching|writing|attending|\w+ing) "
            rf")(?:{_PREP} )?{_V}"),
        ("stopped",
            rf"\b(?:stopped|quit|gave up|has stopped|has quit|has given up) (?P<v>[a-z]+ing)(?=$"
            rf"| {DATE}|,| (?:and|in|for|because|altogether)\b)"
        ),
        ("stopped",
            r"\b(?:finished|completed|submitted|shipped|delivered|wrapped up|has finished|has completed|is done with"
            r"|is finished with)"
            rf" (?:the |an? |{USER}'s )?{_V}"),
        ("reversed",
            rf"^(?:[Tt]urns out (?:that )?)?{USER} (?:hates|dislikes|can't stand"
            rf"|loathes|can't bear) (?P<v>[^,;]{{2,40}})$"
        ),
        ("reversed", rf"^[Tt]urns out (?:that )?{USER} (?:loves|likes|enjoys|adores) (?P<v>[^,;]{{2,40}})$"),
        ("left",
            rf"\b{_LEAVES} (?:{USER}'s (?:job|position|role) (?:at|with|as an?) |(?:the|an?) )?(?P<v>{NAME})(?=$| {DATE}|,| "
            r"and\b| after\b| because\b| to\b| as\b| for good| team\b)"),
        ("left", rf"\b(?:{_LEAVES}|lost) {USER}'s (?P<v>job|position|company|role)\b"),
        ("dropped", rf"\b{_DROPS} (?:using )?(?:{USER}'s )?{_V}"),
    )
)  # fmt: skip
_UNDER_WAY = re.compile(
    rf"^{USER}(?: and others)? (?:is|are) (?:switching|migrating|moving"
    rf"|transitioning|converting|changing)(?: [^\s,]+){{0,3}}? from (?P<v>{NAME}|[^,;]{{1,40}}?) (?:over )?to \S"
)
_LOST_JOB = re.compile(
    rf"^{USER} (?:was|got|has been|has gotten) (?:laid off|fired|sacked|let go|made redundant)(?:$| (?:{DATE}|and|because)\b)"
)
_NEVER = re.compile(
    rf"\bnever (?:(?:really|actually|even|ever) )?(?:worked|lived|used|had|owned|studied|played|drove|was|been|were|joined"
    rf"|moved|married|dated|smoked|drank|ate|taught|led|managed) (?:{_PREP} )?{_V}",
    re.IGNORECASE,
)
_LONGER = re.compile(r"\b(?:anymore|any more|any longer)\b", re.IGNORECASE)
_NEGATED = re.compile(
    rf"^(?:[Tt]urns out )?(?:{USER}|{NAME}) (?:doesn't|does not|isn't|is not) (?:(?:allergic|related|married|engaged"
    rf"|afraid|intolerant|moving|going"
    r"|coming|joining|use|work|live|like|love|own|play|drive"
    rf"|drink|eat|speak|study|teach|lead|manage) )?(?:{_PREP} )?(?:an? )?(?P<v>{NAME}|[a-z]+)(?: after all)?$",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(rf"(?:,\s*not|\bnot) (?:{_PREP} )?(?P<v>{NAME})(?=$|,| but\b|\.)")
_NOT_VALUE = re.compile(
    r",\s*(?:and\s+)?not\s+(?:on\s+|at\s+|in\s+|the\s+)?(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan"
    r"|febr)uary|march|april|may\b|june|july"
    r"|august|(?:sept|nov|dec)ember|october|one|two|three|four|five|six|seven|eight|nine|ten)",
    re.IGNORECASE,
)
_USED_TO = re.compile(rf"\bused to \w+ (?:{_PREP} )?{_V}", re.IGNORECASE)


def ended(skeleton: Skeleton, clause: str) -> tuple[tuple[str, ...], str]:
    """
    The phrases that the clause says no longer hold, and the rule that found them.

    >>> from memento.consolidation.rules.skeleton import skeleton as reduced
    >>> ended(reduced("USER no longer eats meat", [], []), "USER no longer eats meat")
    (('meat',), 'no-longer')
    >>> ended(reduced("USER likes tea", [], []), "USER likes tea")
    ((), '')
    """
    if _LOST_JOB.search(skeleton.text):
        return ("job",), "left"
    # The skeleton has lost its "anymore"; a mark at the end brings it back for the one pattern that needs it.
    text = f"{skeleton.text}\x00" if _LONGER.search(clause) else skeleton.text
    for rule, expression in _ENDS:
        if (match := expression.search(text)) and (phrase := skeleton.phrase(match["v"].rstrip("\x00"))):
            return (phrase,), rule
    if _NOT_VALUE.search(clause):
        return (), "not-but"
    if match := _NOT_BUT.search(text):
        return (skeleton.phrase(match["v"]),), "not-but"
    if match := _NEGATED.search(text):
        return (skeleton.phrase(match["v"]),), "negation"
    return (), ""


def being_replaced(skeleton: Skeleton, now: datetime) -> tuple[str, ...]:
    """
    What somebody is switching away from at this very time: a change that has begun, not one that is planned for a day.

    >>> from datetime import UTC
    >>> from memento.consolidation.rules.skeleton import skeleton as reduced
    >>> being_replaced(reduced("USER is switching from tabs to spaces", [], []), datetime(2024, 5, 15, tzinfo=UTC))
    ('tabs',)
    """
    match = _UNDER_WAY.search(skeleton.text)
    if match is None or any(one.value > now for one in skeleton.dates):
        return ()
    return (skeleton.phrase(match["v"]),)


def used_to(skeleton: Skeleton) -> tuple[str, ...]:
    """What somebody "used to" use, do or be at, to be ended only when a "now" follows."""
    match = _USED_TO.search(skeleton.text)
    return (skeleton.phrase(match["v"]),) if match else ()


def never_was(skeleton: Skeleton) -> tuple[str, ...]:
    """What never was so, whoever said that it was: "USER never worked at Siemens" → Siemens."""
    match = _NEVER.search(skeleton.text)
    phrase = skeleton.phrase(match["v"]) if match else ""
    return (phrase,) if phrase else ()
