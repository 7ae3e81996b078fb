"""
Which of the seven kinds a name is, and what the note says it is.

Order of trust: who is called a relative or a colleague is a person whatever the name; then the well-known names; then
the words of the name itself ("Acme GmbH"), the words around it ("moved to …", "… said"), a known first name; else a
Concept.
"""

from __future__ import annotations

import re

from memento.model import EntityKind
from memento.text import cues
from memento.text.common import LANGUAGES
from memento.text.cues import RELATIVE
from memento.text.first_names import FIRST_NAMES
from memento.text.gazetteer import COMPANY_SUFFIXES, EVENT_WORDS, Known, lookup
from memento.text.nouns import KIND_OF_NOUN
from memento.text.words import word_set

OPENING_COMPANIES = word_set("""
    university institute bank ministry department college trattoria osteria ristorante restaurant café cafe hotel pizzeria
    bistro praxis kanzlei team radio studio galerie gallery académie école lycée klinik hôpital royal
    """)
CLOSING_COMPANIES = word_set("""
    brewery bakery society club association council union restaurant café cafe coffee bistro bar pub pizzeria trattoria hotel
    hostel theatre orchestra philharmonic choir fc united press times post news ministry department church store shop market
    books records insurance logistics design digital mutual trust commission committee federation league alliance network
    collective cooperative co-op museum bakehouse taproom roastery deli tavern inn kettle diner grill creamery
    patisserie butchers
    surgery practice nursery academy conservatoire conservatory rovers rangers wanderers athletic harriers strollers
    singers players
    ensemble quartet trio chamber authority society guild trust library charity orchestra gymnastics dojo chess rowing cycling
    freight shipping haulage couriers brewers distillery winery vineyard farm farms dairy timber steel ceramics textiles optics
    instruments aviation railways motors mobility biosciences genomics oncology healthcare care dentistry orthodontics opticians
    realty cider ale ales tea teas chocolate chocolates soap candles bikes cycles boats toys flowers yarns shoes
    threads realty estates property properties builders construction architects engineering engineers interiors
    furniture joinery
    financial finance capital wealth payments assurance bancorp credit savings publications magazine gazette herald tribune
    courier chronicle observer broadcasting radio telecoms gallery kindergarten primary nursery montessori veterinary
    dental physio gym fitness
    crossfit outfitters motorworks works brothers bros sons associates advisors legal law llp firm telecom pharmaceuticals
    biotech therapeutics diagnostics semiconductors aerospace defence chemicals foods drinks wines brewing roasters kitchen
    catering interactive entertainment pictures films publishing verlag stiftung verein e.v. dynamics networks ai
    """)
CLOSING_PLACES = word_set("""
    street st st. avenue ave road rd lane boulevard square park gardens garden lake river mountain mountains beach
    island islands
    bay valley hill hills heights station airport bridge castle cathedral forest woods falls canyon desert peninsula coast
    harbour harbor port village town city county district quarter building tower hall arena stadium center centre plaza mall
    palace abbey pass glacier peak row court close crescent mews terrace wharf quay quayside grove drive way house
    mill walk common
    gate hollow cottage cottages lodge manor estate heights ridge moor marsh meadow meadows creek springs canal trail
    reserve lighthouse barn arcade mansions gardens cove point cliffs dunes loch lough fjord reservoir campus straße
    strasse platz allee weg rue
    """) - word_set("st")
OPENING_PLACES = word_set(
    "lake mount mt mt. cape fort port san santa são saint st. st los las rio isle lago monte rue plaza via"
)
_HAPPENINGS = word_set(
    "half slam quiz 10k 5k ultra raffle auction gig concert tasting ball race swim supper picnic parade ride jam-session fayre"
)
"""With a capital at the end of a name; in lower case most are everyday words."""
_NUMBERED = re.compile(r"(?:^|\s)(?:no\.?\s*)?\d{1,4}[a-e]?,?\s+$", re.IGNORECASE)
_STREET = re.compile(r"[a-zß](?:straße|strasse|platz|gasse|allee)$")
_PLACE = re.compile(r"(?:burg|berg|dorf|stadt|ville|town|shire|borough|bury|ford|mouth|hafen|stan)$")
_EVENT = re.compile(
    r"(?:[A-Za-z](?:Con|Conf|Fest|CON|Camp|Summit|Days|Meetup|Jam|Hack|Expo|Week)(?:\s|$)|^[A-Z][a-z]+(?:fest|conf)$|\s20\d\d$)"
)
_TECHNICAL = re.compile(
    r"\.(?:js|io|py|net|ai|rs)$|(?:SQL|DB|JS|API|Lang|OS|UI|Hub|Kit|Script|Base|Flow|GPT)$|[a-z]\s\d{1,2}$", re.ASCII
)
_SURNAME = re.compile(
    r"(?:sen|son|sson|ov|ova|ev|eva|ski|ska|sky|cki|cka|wicz|czyk|ez|es|ini|ino|elli|etti|escu|eanu|berg|mann|stein"
    r"|bauer|meier|meyer|maier"
    r"|huber|schmidt|schneider|wong|nguyen|tran|kim|park|lee|chen|wang|zhang|liu|singh|kumar|patel|sharma|gupta|khan"
    r"|ali|ahmed|hassan|yilmaz"
    r"|kaya|silva|santos|costa|pereira|oliveira|rossi|russo|bianchi|ricci|moreau|dubois|laurent|lefevre|smith|jones"
    r"|brown|taylor|miller|wilson"
    r"|oğlu|oglu|dze|shvili|yan|ian|vić|vic|ić|ic|čić|ák|ová|aki|akis|opoulos|idis|ides|nen|lainen|qvist|quist|ström"
    r"|strom|gren|lund|dahl|gaard"
    r"|moto|yama|mura|naka|tani|saki|uchi|ata|eda|ida|awa|kov|enko|chuk|yuk|sma|stra|inga|okoye|adeyemi|mensah|diallo"
    r"|owusu|okafor)$",
    re.IGNORECASE,
)
_CALLED_A = re.compile(r"^(?:,|\s+is|\s+\()\s*(an?|the|our|my)\s+([^,.;:()!?]{3,70})", re.IGNORECASE)
_STOP = re.compile(
    r"\s+(?:and|but|that|which|who|where|at|in|on|with|because|since|when|now|he|she|it|is|was|has)\b", re.IGNORECASE
)
_OF_USER = re.compile(rf"\bmy\s+((?:\w+\s+)?(?:{RELATIVE}))(?:\s+(?:is|named|called)|,)?\s*$", re.IGNORECASE)


def kind_of(before: str, name: str, after: str, known: Known | None) -> EntityKind:
    """
    The kind of a name from itself and the words on either side.

    >>> kind_of("I work at ", "Orion", ".", None), kind_of("my friend ", "Jordan", " says", None)
    ('Organization', 'Person')
    >>> kind_of("we had tapas at ", "Casa Lola", ", a tiny bar", None), kind_of("", "Zephyr", " is a build tool", None)
    ('Organization', 'Technology')
    """
    before = before[-60:]
    if known is None and not _is_first_name(name):
        if cues.READ.search(before) or (name.startswith("The ") and cues.READ.search(f"{before}The ")):
            return "Concept"
        if (
            cues.MADE.search(before)
            and cues.CALLED_SOMETHING.search(before)
            and not cues.RELATIVE_CALLED.search(before)
        ):
            return "Project"
    if cues.PERSON_BEFORE.search(before) and (known is None or known.kind == "Location" or _is_first_name(name)):
        return "Person" if _is_first_name(name) else _by_shape(name) or "Person"
    if known is not None:
        return _of_known(before, name, after, known)
    words = name.split()
    maker = lookup(words[0]) if len(words) > 1 else None
    if (
        maker is not None
        and maker.kind in ("Organization", "Technology")
        and cues.A_THING.search(before)
        and _by_shape(name) is None
    ):
        return "Technology"
    shape, around = _by_shape(name), _by_context(before, name, after)
    if shape == "Technology" and around in ("Event", "Organization"):
        return around
    if shape is None and _NUMBERED.search(before):
        return "Location"
    return (
        shape
        or _by_noun(before, name, after)
        or around
        or ("Person" if _is_first_name(name) or _is_full_name(name) else None)
        or _by_place(before, name, after)
    )


def _of_known(before: str, name: str, after: str, known: Known) -> EntityKind:
    """The kind of a well-known name, unless the words around it say that here it is a company, a project or a person."""
    if (
        known.kind == "Technology"
        and cues.EMPLOYS.search(before)
        and not re.search(r"\b(?:switch|migrat|mov)\w*\b", before)
    ):
        return "Organization"
    if name in FIRST_NAMES and known.kind != "Person" and not cues.USED.search(before):
        found = _by_context(before, name, after)
        return "Person" if found in (None, "Person") and known.kind != "Location" else found or known.kind
    if known.plain or " " in name:
        return known.kind
    if cues.MET.search(before):
        return "Person"
    return "Project" if re.match(r"\s+project\b", after) and known.kind == "Technology" else known.kind


def description(before: str, name: str, after: str, known: Known | None) -> str:
    """
    What the note says the thing is, else what everybody knows; never what the user thinks of it.

    >>> description("", "Orion", " is an internal search engine that we use", None)
    'internal search engine'
    >>> description("I met my manager ", "Ana", ".", None)
    "USER's manager"
    """
    if match := _OF_USER.search(before):
        return f"USER's {match[1].lower()}"
    if match := _CALLED_A.match(after):
        phrase = _STOP.split(match[2])[0].strip()
        if len(phrase) > 2 and not re.match(
            r"(?:great|good|bad|nice|terrible|pain|mess|lot|best|worst|bit|same|only|one)\b", phrase, re.IGNORECASE
        ):
            return f"USER's {phrase}" if match[1].lower() in ("my", "our") else phrase
    if known is None:
        return ""
    return f"place in {known.what}" if known.kind == "Location" and known.what else known.what


def _by_shape(name: str) -> EntityKind | None:
    """What the name itself says: "Acme GmbH", "Mill Street", "Project Orion", "DevConf 2026", "Fairphone 5"."""
    words = name.lower().split()
    if words[0] == "project" and len(words) > 1:
        return "Project"
    if len(words) > 1 and (
        words[-1] in COMPANY_SUFFIXES or words[0] in OPENING_COMPANIES or words[-1] in CLOSING_COMPANIES
    ):
        return "Organization"
    if "&" in name or re.search(r"[a-zß](?:schule|klinik|werke|verein|gesellschaft|akademie)$", name):
        return "Organization"
    if (
        any(word in EVENT_WORDS for word in words[1:])
        or (len(words) > 1 and words[-1] in _HAPPENINGS)
        or _EVENT.search(name)
    ):
        return "Event"
    if (len(words) > 1 and (words[-1] in CLOSING_PLACES or words[0] in OPENING_PLACES)) or _STREET.search(name):
        return "Location"
    if re.search(r"\s(?:van|von|bin|del|de la|der)\s", name):
        return "Person"
    if words[0] in LANGUAGES:
        return "Concept"
    return "Technology" if _TECHNICAL.search(name) else None


def _by_noun(before: str, name: str, after: str) -> EntityKind | None:
    """What the note calls it: "a café called …", "…, a consultancy in Bonn", "the … app"."""
    if (match := cues.NOUN_NEXT.match(after)) and (len(name.split()) < 3):
        kind = KIND_OF_NOUN[match["noun"].lower()]
        # "the Acme engineer": a person of that company.
        return "Organization" if kind == "Person" else kind
    if match := cues.NOUN_BEFORE.search(before):
        kind = KIND_OF_NOUN[match["noun"].lower()]
        return "Project" if kind == "Technology" and cues.MADE.search(before) else kind
    if match := cues.NOUN_AFTER.match(after):
        return KIND_OF_NOUN[match["noun"].lower()]
    if cues.CALLED_SOMETHING.search(before) and not _is_first_name(name):
        return "Project" if cues.MADE.search(before) else "Concept"
    return None


def _by_context(before: str, name: str, after: str) -> EntityKind | None:
    found_after = next((kind for kind, pattern in cues.AFTER if pattern.match(after)), None)
    found_before = next((kind for kind, pattern in cues.BEFORE if pattern.search(before)), None)
    if found_after in ("Project", "Event") or (found_after == "Person" and found_before is None):
        return found_after
    if (
        found_before in ("Organization", "Project", "Technology", "Location")
        and _is_first_name(name)
        and re.search(
            r"(?:left|quit|join(?:ed|ing|s)?|with|working on|called|hired|use|visit\w*|from|around)\s*$", before
        )
    ):
        return "Person"
    return found_before or found_after


def _by_place(before: str, name: str, after: str) -> EntityKind:
    """The kind by the preposition alone, where nothing else tells: one works *at*, lives *in* and goes *with*."""
    if cues.AT_THE.search(before):
        return "Location"
    if cues.AT.search(before):
        return "Organization"
    if cues.HANDED.search(before):
        return "Person"
    if cues.STAYED.search(before) or (cues.IN.search(before) and not name.isupper()):
        return "Location"
    if cues.WITH.search(before) and not name.isupper():
        return "Person"
    if _PLACE.search(name):
        return "Location"
    if cues.ONE_OF_MANY.search(before):
        return "Technology"
    if not before.strip() and (cues.PRONOUN_LATER.match(after) or re.match(r"\s+from\s+[A-Z]", after)):
        return "Person"
    return "Technology" if re.search(r"[a-z][A-Z]", name) else "Concept"


def _is_first_name(name: str) -> bool:
    return name.split()[0].split("-")[0] in FIRST_NAMES


def _is_full_name(name: str) -> bool:
    """Whether two or three words look like a first name and a surname: "Margit Olsen", "Bao Nguyen"."""
    words = name.split()
    return 1 < len(words) < 4 and all(word[1:].islower() for word in words) and bool(_SURNAME.search(words[-1]))
