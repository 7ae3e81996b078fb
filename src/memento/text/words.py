"""
The words that the rules know: verbs with their past forms, and the small closed classes of English.

*But:* a few hundred everyday verbs, not a dictionary; a verb that is missing is still inflected, only never recognised by itself.
"""

from __future__ import annotations

import re
from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """
    The words of a text.

    >>> sorted(word_set("b a"))
    ['a', 'b']
    """
    return frozenset(text.split())


REGULAR = word_set("""
    accept achieve adapt add admire admit adopt adore advise agree allow analyse analyze announce answer apply
    appreciate approve argue arrange arrive ask assist attend avoid aim bake ban bank base battle believe belong bike
    block blog boil book borrow bother brew brush bump call camp cancel care carry celebrate chair change chat chase
    check climb close coach code collaborate collect combine commit commute compare compete complain complete compose
    conduct configure confirm connect consider consist consult contact contain continue contribute convert cook
    coordinate copy count cover craft crash create cross curate cycle dance date debug decide decline defend delegate
    deliver depend deploy deserve describe design despise detest develop direct discover discuss dislike ditch divorce
    document donate download doubt draft dress drop dump earn edit email embrace employ enable encourage end enjoy enrol
    enroll escape evaluate exercise expect experience experiment explain explore export face fail fancy favour favor
    finish fix focus follow force form garden gather graduate greet grill guess guide handle happen hate help hike
    hire hope host hurry identify ignore imagine implement import improve include increase inherit insist inspire install
    instruct integrate intend interview introduce invent invest invite iterate jog join judge juggle jump kayak kick
    kiss knit label lack land last laugh launch learn lecture license lift like limit link list listen live load
    locate lock log look love maintain manage march mark marry master match matter meditate mention mentor merge
    message migrate mind miss monitor move name need note notice observe offer open operate order organise organize
    outsource own pack paint park participate pass pay perform phone photograph pick plan plant play point post
    practice practise pray prefer prepare present prevent print produce program promise promote protect prove provide
    publish pull purchase push race raise reach realise realize receive recommend record recover recycle reduce
    refactor refuse register regret relate relax release relocate rely remain remember remind remove renovate rent
    repair repeat replace reply report represent request require research reserve reside resign respect respond rest
    retire return review rock roll row rule sail save schedule score scrap search seem serve settle share shift ship shop
    sign skate skateboard ski skip smell smoke snack snowboard solve sort sound specialise specialize start stay stop
    store stretch struggle study succeed suffer suggest supervise supply support suppose surf suspect switch talk tend
    test text thank touch tour trade train transfer translate travel treat try turn tutor type uninstall unsubscribe update
    upgrade upload use value visit volunteer vote wait walk want warn wash watch water weigh welcome whistle wipe wish
    wonder work worry yell
    """)

_IRREGULAR = """
    be:was,been become:became,become begin:began,begun bet:bet,bet bite:bit,bitten blow:blew,blown break:broke,broken
    bring:brought,brought build:built,built burn:burnt,burnt buy:bought,bought catch:caught,caught choose:chose,chosen
    come:came,come cost:cost,cost cut:cut,cut deal:dealt,dealt dig:dug,dug do:did,done draw:drew,drawn
    dream:dreamt,dreamt drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed,fed
    feel:felt,felt fight:fought,fought find:found,found fly:flew,flown forget:forgot,forgotten
    forgive:forgave,forgiven freeze:froze,frozen get:got,gotten give:gave,given go:went,gone grow:grew,grown
    hang:hung,hung have:had,had hear:heard,heard hide:hid,hidden hit:hit,hit hold:held,held hurt:hurt,hurt
    keep:kept,kept know:knew,known lay:laid,laid lead:led,led leave:left,left lend:lent,lent let:let,let lie:lay,lain
    lose:lost,lost make:made,made mean:meant,meant meet:met,met put:put,put quit:quit,quit read:read,read
    ride:rode,ridden ring:rang,rung rise:rose,risen run:ran,run say:said,said see:saw,seen sell:sold,sold
    send:sent,sent set:set,set shake:shook,shaken shoot:shot,shot shut:shut,shut sing:sang,sung sit:sat,sat
    sleep:slept,slept speak:spoke,spoken spend:spent,spent split:split,split spread:spread,spread stand:stood,stood
    steal:stole,stolen stick:stuck,stuck strike:struck,struck swear:swore,sworn sweep:swept,swept swim:swam,swum
    swing:swung,swung take:took,taken teach:taught,taught tear:tore,torn tell:told,told think:thought,thought
    bend:bent,bent flee:fled,fled outgrow:outgrew,outgrown overcome:overcame,overcome oversleep:overslept,overslept
    pay:paid,paid rebuild:rebuilt,rebuilt redo:redid,redone retake:retook,retaken rewrite:rewrote,rewritten seek:sought,sought
    undergo:underwent,undergone withdraw:withdrew,withdrawn throw:threw,thrown understand:understood,understood
    wake:woke,woken wear:wore,worn win:won,won write:wrote,written
"""
_FORMS = {base: tuple(forms.split(",")) for base, _, forms in (entry.partition(":") for entry in _IRREGULAR.split())}

BASES = REGULAR | frozenset(_FORMS)
"""Verbs in the form that follows "to"."""

PAST = {past: base for base, (past, _) in _FORMS.items()} | {"were": "be"}
PARTICIPLES = {participle: base for base, (_, participle) in _FORMS.items()}
UNCHANGING = frozenset(base for base, (past, _) in _FORMS.items() if base == past)
"""Verbs whose present and past look alike: "I quit"."""

MODALS = word_set("can could will would shall should may might must cannot ought")

ADVERBS = word_set("""
    also always never often still now already even only recently sometimes once then ever soon almost just really
    usually currently actually personally too rarely seldom hardly both no longer definitely probably finally lately
    simply mostly mainly maybe perhaps nowadays presently formerly previously kinda sorta truly clearly officially
    first again either instead today generally typically however
    """)
_NOT_ADVERBS = word_set("rely apply reply supply fly comply multiply imply july family italy early ally only daily")

PREPOSITIONS = word_set("""
    about above across after against along among around as at before behind below beside between by despite during
    except for from in inside into like near of off on onto out outside over past per since through throughout to
    toward towards under until up upon via with within without
    """)
DETERMINERS = word_set(
    "a an the this that these those my your his her its our their some any each every no another more most many much"
)
CONJUNCTIONS = word_set("and or but nor so yet because although though while whereas if unless when whenever")
PRONOUNS = word_set("""
    i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours
    ourselves they them their theirs themselves someone somebody anyone anybody everyone everybody nobody something
    anything everything nothing who whom whose which what where when why how there here this that these those one ones
    """)
NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
} | {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4, "fifteen": 15, "twenty": 20, "thirty": 30, "dozen": 12}

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mon",
            "tuesday tue tues",
            "wednesday wed",
            "thursday thu thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for name in names.split()
}


def is_adverb(word: str) -> bool:
    """
    Whether a word may stand between a subject and its verb.

    >>> [is_adverb(word) for word in ("really", "just", "rely", "work")]
    [True, True, False, False]
    """
    lowered = word.lower()
    return lowered in ADVERBS or (lowered.endswith("ly") and len(lowered) > 4 and lowered not in _NOT_ADVERBS)


FUNCTION_WORDS = (
    PREPOSITIONS | DETERMINERS | CONJUNCTIONS | PRONOUNS | ADVERBS | MODALS | word_set("am is are was were be been")
)

_AUXILIARY = {
    "am": "is",
    "are": "is",
    "is": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "was": "was",
    "were": "was",
    "ain't": "isn't",
    "be": "is",
    "dont": "doesn't",
}
_LOOKS_PAST = word_set("need feed speed bleed breed embed exceed proceed succeed seed heed weed shed wed indeed")


def third_singular(verb: str) -> str:
    """
    The present form that follows "she"; modals and past forms stay as they are.

    >>> [third_singular(verb) for verb in ("study", "go", "have", "don't", "watch", "play", "can", "moved", "quit")]
    ['studies', 'goes', 'has', "doesn't", 'watches', 'plays', 'can', 'moved', 'quit']
    """
    lowered = verb.lower()
    if lowered in _AUXILIARY:
        return _AUXILIARY[lowered]
    if (
        lowered in MODALS
        or lowered in UNCHANGING - {"read", "put", "cost", "let", "set"}
        or is_past(lowered)
        or lowered.endswith("n't")
    ):
        return verb
    if re.search(r"[^aeiou]y$", lowered):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o|go)$", lowered) else f"{verb}s"


def is_past(word: str) -> bool:
    """
    Whether a word looks like a past form; past participles that differ ("gone") count too.

    >>> [is_past(word) for word in ("worked", "went", "gone", "need", "work")]
    [True, True, True, False, False]
    """
    lowered = word.lower()
    if lowered in UNCHANGING or lowered in BASES:
        return False
    return lowered in PAST or lowered in PARTICIPLES or (lowered.endswith("ed") and lowered not in _LOOKS_PAST)


@lru_cache(maxsize=4096)
def base_of(word: str) -> str | None:
    """
    The base of an inflected form of a verb that the lexicon has, or None.

    >>> [base_of(word) for word in ("uses", "studying", "went", "stopped", "table", "moving")]
    ['use', 'study', 'go', 'stop', None, 'move']
    """
    lowered = word.lower()
    if lowered in ("is", "are", "am"):
        return "be"
    if lowered in ("has", "does", "goes"):
        return {"has": "have", "does": "do", "goes": "go"}[lowered]
    known = PAST.get(lowered) or PARTICIPLES.get(lowered)
    if known or lowered in BASES:
        return known or lowered
    return next((guess for guess in _guesses(lowered) if guess in BASES), None)


def _guesses(word: str) -> list[str]:
    for ending in ("ies", "ied"):
        if word.endswith(ending):
            return [f"{word[:-3]}y", word[:-1]]
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word[: -len(ending)]
            doubled = [stem[:-1]] if len(stem) > 2 and stem[-1] == stem[-2] else []
            more = [word[:-1]] if ending in ("ed", "es") else []
            return [stem, f"{stem}e", *doubled, *more]
    return []
