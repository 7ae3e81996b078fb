"""
Extract the text of a document of any format: its title, and the pieces that become notes, in order.

Each format has a reader: `markdown-it-py` for Markdown and its tables, tree-sitter for source (`code.py`), `trafilatura` for HTML,
`pypdf` for PDF. CSV is read row by row, pictures by their captions (EXIF, PNG text, a file beside them), else by `tesseract`.

*Guarantees:* nothing is executed or fetched. If a document cannot be read, the result is an `InputError` with the reason, whatever
a library raises. Words are not changed: a text is cut only between its blocks, at blank lines, at line and sentence ends, and
otherwise between words.

*But:* a PDF that consists of pictures has no text; of HTML, what surrounds the main text is left out.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

from memento.codec import encode
from memento.errors import InputError
from memento.intake.redaction import Redaction, Redactor
from memento.intake.rows import LINE_CHARS, split_paragraphs
from memento.model import CodeType, Scope
from memento.plugins.intake.code import ENDINGS, MISSING, parse_code
from memento.plugins.intake.programs import FRONT_FIELD, FRONT_MATTER
from memento.settings import RedactionSettings

PIECE_WORDS = 250
"""The most words of a piece: about what the embedder reads at once."""
_PIECE_CHARS = 4_000
_SECTION_WORDS = 60
"""The number of words from which a heading begins a new piece."""
_OCR_S = 60.0
_TABLE_ROWS, _TABLE_COLUMNS = 20_000, 1_000
MOST_PIECES = 20_000
"""The most pieces of a document: some ten thousand pages."""
_MARKS = 1_000
_DEEP = re.compile(rf"(?:[>\[({{]\s?){{{_MARKS}}}")
"""A line that opens more quotes or brackets than anybody writes: parsers take time that grows faster than their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """
    The content of a document.

    `blocks` are the texts between which it may be cut; with `is_apart` each is a piece of its own. With `is_code` its names are not
    people and places. `remark` is what the reader should know about how it was read.
    """

    form: str
    title: str
    blocks: tuple[str, ...]
    is_apart: bool = False
    is_code: bool = False
    language: str = ""
    defines: tuple[tuple[CodeType, str], ...] = ()
    imports: tuple[str, ...] = ()
    remark: str = ""


Reader = Callable[[bytes, Path], Extract]
Redact = Callable[[str], str]


def extract(data: bytes, path: Path, redact: Redact, media: str = "") -> Extract:
    """
    Read a document, without its secrets.

    Args:
        path: its name shows the format; a caption of a picture may be in a file beside it.
        redact: removes the secrets from a text before it is split.
        media: its media type, if it has no name that shows the format.

    Raises:
        InputError: with the reason only.
    """
    suffix = path.suffix.lower()
    if (name := _MEDIA.get(media)) is None:
        name = _FORMS.get(suffix, "")
    if name == "data":
        raise InputError("it is data: `memento import` takes rows and RDF in")
    if name in ("pdf", "image"):
        return _clean(_READERS[name](data, path), redact)
    if not name and data[:5] == b"%PDF-":
        return _clean(_read_pdf(data, path), redact)
    text = decode(data)
    _raise_if_unbounded(text)
    text = redact(text)
    if suffix in ENDINGS and media in ("", "text/plain"):
        return _read_code(text, path)
    if not name and media == "" and text[:200].lstrip().lower().startswith(("<!doctype html", "<html")):
        name = "html"
    return _TEXT_READERS.get(name, _read_prose)(text, path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """The pieces of a document, what it is, and how many secrets of each kind were taken out of it."""

    form: str
    title: str
    pieces: tuple[str, ...]
    is_code: bool = False
    defines: tuple[tuple[CodeType, str], ...] = ()
    imports: tuple[str, ...] = ()
    remark: str = ""
    secrets: Mapping[str, int] = field(default_factory=dict)


def read_document(
    path: str, digest: str, name: str, type: str, redaction: Mapping[str, Any], tenant: str, namespace: str
) -> bytes:
    """
    Read a document as `read_pieces` does, in a worker, and return the pieces as JSON.

    Args:
        type: as `media` there.
        redaction: the settings of redaction.
        tenant, namespace: where the pieces go.
    """
    scope = Scope(tenant, namespace)
    redacting = Redaction(Redactor(RedactionSettings(**redaction), Path(os.devnull)), lambda: scope)
    return encode(read_pieces(Path(path), digest, Path(name), redacting, type))


def read_pieces(path: Path, digest: str, name: Path, redaction: Redaction, media: str = "") -> Pieces:
    """
    Read a file and split it into pieces, without its secrets. It runs in a process that may be ended at any time.

    Args:
        digest: the SHA-256 of its bytes.
        name: the name that shows its format, if it is not that of the file.
        media: as for `extract`.

    Raises:
        InputError: with the reason only.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror}") from error
    if sha256(data).hexdigest() != digest:
        raise InputError("it was changed while it was read")
    found = extract(data, name, lambda text: redaction.redact(text, "it"), media)
    pieces = cut_pieces(found.blocks, is_apart=found.is_apart)
    if len(pieces) > MOST_PIECES:
        raise InputError(f"it has {len(pieces):,} pieces, and a document may have {MOST_PIECES:,}: cut it")
    return Pieces(
        form=found.form,
        title=found.title,
        pieces=tuple(pieces),
        is_code=found.is_code,
        defines=found.defines,
        imports=found.imports,
        remark=found.remark,
        secrets=dict(redaction.found),
    )


def _raise_if_unbounded(text: str) -> None:
    """Refuse a text with a line that would take too long to split."""
    begin, number = 0, 1
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if end - begin > LINE_CHARS:
            raise InputError(
                f"line {number} has {end - begin:,} characters, and a line may have {LINE_CHARS:,}: break it"
            )
        if end - begin > _MARKS and _DEEP.match(text, begin):
            raise InputError(f"line {number} is nested deeper than {_MARKS} levels")
        begin, number = end + 1, number + 1


def _clean(found: Extract, redact: Redact) -> Extract:
    blocks = tuple(redact(one) for one in found.blocks)
    return Extract(form=found.form, title=redact(found.title), blocks=blocks, remark=found.remark)


def decode(data: bytes) -> str:
    """
    Decode a text: Unicode if it has a byte order mark, else UTF-8, else the Western code page of Windows.

    Raises:
        InputError: it is binary.

    >>> decode("Grüße".encode("utf-16")), decode("Grüße".encode("cp1252"))
    ('Grüße', 'Grüße')
    """
    marks = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe\x00\x00": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    for mark, encoding in marks.items():
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                break
    if b"\0" in data[:65_536]:
        raise InputError("it is binary")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    strange = sum(sign == "\ufffd" or (ord(sign) < 32 and sign not in "\t\n\r\f") for sign in text[:65_536])
    if strange > 0.01 * len(text[:65_536]):
        raise InputError("it is binary")
    return text


def cut_pieces(blocks: Sequence[str], *, is_apart: bool = False) -> list[str]:
    """
    Combine the blocks of a document into pieces of at most `PIECE_WORDS` words, cutting longer ones; none is blank.

    A heading begins a new piece once the piece before has some sentences.

    >>> cut_pieces(["# A", "one", "two", "# B"])
    ['# A\\n\\none\\n\\ntwo\\n\\n# B']
    >>> [len(one.split()) for one in cut_pieces(["word " * 600])]
    [250, 250, 100]
    """
    pieces: list[str] = []
    held: list[str] = []
    words = signs = 0
    for part in (part for block in blocks for part in _cut_long(block)):
        more = len(part.split())
        is_full = words + more > PIECE_WORDS or signs + len(part) > _PIECE_CHARS
        if held and (is_apart or is_full or (part.lstrip().startswith("#") and words > _SECTION_WORDS)):
            pieces.append(_join(held))
            held, words, signs = [], 0, 0
        held.append(part)
        words, signs = words + more, signs + len(part) + 2
    return [one for one in (*pieces, _join(held)) if one.strip()]


def _join(parts: Sequence[str]) -> str:
    """Join consecutive parts: source as it is, other texts with a blank line between."""
    text = ""
    for part in parts:
        text += part if not text or text.endswith("\n") else f"\n\n{part}"
    return text.strip("\n").rstrip()


_CUTS = (
    re.compile(r"(\n[^\S\n]*+\n)"),
    re.compile(r"(\n)"),
    re.compile(r"(?<=[.!?…。])(\s++)"),
    re.compile(r"(?<!\s)(\s++)"),
)
"""Where a text that is too long is cut; the first pattern that makes it short enough is used."""


def _cut_long(text: str, cuts: Sequence[re.Pattern[str]] = _CUTS) -> list[str]:
    if not text.strip():
        return []
    if len(text.split()) <= PIECE_WORDS and len(text) <= _PIECE_CHARS:
        return [text]
    if not cuts:
        return [text[at : at + _PIECE_CHARS] for at in range(0, len(text), _PIECE_CHARS)]
    parts, pieces, many = cuts[0].split(text), list[str](), 0
    for place in range(0, len(parts), 2):
        part = parts[place]
        gap = parts[place - 1] if place else ""
        count = len(part.split())
        if pieces and many + count <= PIECE_WORDS and len(pieces[-1]) + len(part) <= _PIECE_CHARS:
            pieces[-1] += gap + part
            many += count
            continue
        smaller = _cut_long(part, cuts[1:])
        pieces += smaller
        many = len(smaller[-1].split()) if smaller else 0
    return pieces


def _read_prose(text: str, path: Path) -> Extract:
    form, is_code = ("config", True) if path.suffix.lower() in _CONFIGS else ("text", False)
    blocks = split_paragraphs(text)
    if not blocks:
        raise InputError("it has no text")
    return Extract(form=form, title=path.name, blocks=tuple(blocks), is_code=is_code)


def _read_code(text: str, path: Path) -> Extract:
    language = ENDINGS[path.suffix.lower()]
    if (parsed := parse_code(text, language, PIECE_WORDS)) is None:
        blocks = tuple(re.split(r"(?<=\n\n)(?=\S)", text))
        remark = f"source is cut at blank lines, and its functions and classes are not listed: {MISSING} reads them"
        return Extract(form="code", title=path.name, blocks=blocks, is_code=True, language=language, remark=remark)
    return Extract(
        form="code",
        title=path.name,
        blocks=parsed.blocks,
        is_code=True,
        language=language,
        defines=parsed.defines,
        imports=parsed.imports,
    )


def _read_markdown(text: str, path: Path) -> Extract:
    head = FRONT_MATTER.match(text)
    fields = {key.lower(): value.strip().strip("'\"") for key, value in FRONT_FIELD.findall(head[1] if head else "")}
    title, blocks = _read_blocks(text[head.end() if head else 0 :])
    if author := fields.get("author"):
        blocks = [f"Author: {author}", *blocks]
    if not blocks:
        raise InputError("it has no text")
    return Extract(form="markdown", title=fields.get("title") or title or path.name, blocks=tuple(blocks))


def _read_blocks(text: str) -> tuple[str, list[str]]:
    """Return the first heading of a Markdown text and its blocks; a table becomes lines that name each value."""
    from markdown_it import MarkdownIt

    lines, title, blocks = text.replace("\r\n", "\n").split("\n"), "", list[str]()
    tokens = MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").parse("\n".join(lines))
    for place, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        block = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n")
        if token.type == "heading_open" and not title:
            title = tokens[place + 1].content.strip()
        if token.type == "table_open":
            block = "\n".join(_read_table(tokens[place:]))
        if block.strip():
            blocks.append(block)
    return title, blocks


def _read_table(tokens: Iterable[Any]) -> list[str]:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(token.content.strip())
        elif token.type == "table_close":
            break
    header, *rest = rows
    return [_write_row(header, row) for row in rest] or [" | ".join(header)]


def _write_row(header: Sequence[str], row: Sequence[str]) -> str:
    """
    Format a row of a table as names and values.

    >>> _write_row(["name", "", "city"], ["Ana", "7", ""])
    'name: Ana; 7'
    """
    pairs = [(name, value) for name, value in zip(header, row, strict=False) if value]
    return "; ".join(f"{name}: {value}" if name else value for name, value in pairs)


def _read_csv(text: str, path: Path) -> Extract:
    sample = text[:8_192]
    try:
        dialect: Any = csv.Sniffer().sniff(sample, ",;\t|")
    except csv.Error:
        dialect = csv.excel_tab if path.suffix.lower() == ".tsv" else csv.excel
    try:
        rows = [row for row in csv.reader(io.StringIO(text), dialect) if any(one.strip() for one in row)]
    except csv.Error as error:
        raise InputError(f"it is no whole CSV: {error}") from error
    if len(rows) < 2:
        raise InputError("it has no rows below its header")
    if len(rows) > _TABLE_ROWS:
        raise InputError(f"it has more than {_TABLE_ROWS:,} rows: cut it")
    if len(rows[0]) > _TABLE_COLUMNS:
        raise InputError(f"it has more than {_TABLE_COLUMNS:,} columns: cut it")
    header, *rest = [[" ".join(one.split()) for one in row] for row in rows]
    return Extract(
        form="table",
        title=path.name,
        blocks=tuple(filter(None, (_write_row(header, row) for row in rest))),
        is_apart=True,
    )


def _read_html(text: str, path: Path) -> Extract:
    try:
        import trafilatura
    except ImportError as error:
        raise InputError(f"what reads HTML is not installed: {MISSING}") from error
    try:
        body = trafilatura.extract(text, output_format="markdown", include_tables=True, include_comments=False)
        about = trafilatura.extract_metadata(text)
        body = body or trafilatura.html2txt(text)
    except Exception as error:  # a parser may raise anything on unknown text
        raise InputError("it is no HTML that can be read") from error
    _, blocks = _read_blocks(body or "")
    if not blocks:
        raise InputError("it has no text")
    named = (about.title if about else None) or _find_html_title(text)
    return Extract(form="html", title=named or path.name, blocks=tuple(blocks))


def _find_html_title(text: str) -> str:
    found = re.search(r"<title[^>]{0,200}>([^<]{1,500})</title", text, re.IGNORECASE)
    return " ".join(unescape(found[1]).split()) if found else ""


def _read_pdf(data: bytes, path: Path) -> Extract:
    try:
        import pypdf
    except ImportError as error:
        raise InputError(f"what reads PDF is not installed: {MISSING}") from error
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError("it is locked with a password")
        pages = [page.extract_text() for page in reader.pages]
        title = str((reader.metadata.title if reader.metadata else "") or "").strip()
    except InputError:
        raise
    except Exception as error:  # a parser may raise anything on unknown bytes
        raise InputError("it is no whole PDF") from error
    blocks = [re.sub(r"(?<=[a-zß-ÿ])-\n(?=[a-zß-ÿ])", "", one).strip() for one in pages]
    if not any(blocks):
        raise InputError("it has no text: its pages are pictures")
    return Extract(form="pdf", title=title or path.name, blocks=tuple(filter(None, blocks)))


def _read_image(data: bytes, path: Path) -> Extract:
    captions = [*_read_captions(data), *_read_sidecars(path)]
    if not captions:
        if program := shutil.which("tesseract"):
            captions = _recognise(program, data)
        else:
            raise InputError(
                "nothing is said of it (EXIF, a file beside it), and tesseract, which reads pictures, is not installed"
            )
    blocks = tuple(dict.fromkeys(one.strip() for one in captions if one.strip()))
    if not blocks:
        raise InputError("there is no text in it")
    return Extract(form="image", title=path.name, blocks=(f"Picture {path.name}: {blocks[0]}", *blocks[1:]))


_EXIF = (270, 0x9C9B, 0x9C9C, 0x9C9F, 37510)
"""ImageDescription, XPTitle, XPComment, XPSubject, UserComment."""


def _read_captions(data: bytes) -> list[str]:
    """Read the captions inside a picture; none if `pillow` is not installed or the picture is broken."""
    try:
        from PIL import Image
    except ImportError:
        return []
    try:
        with Image.open(io.BytesIO(data)) as picture:
            tags = picture.getexif()
            values = [tags.get(tag) for tag in _EXIF] + [tags.get_ifd(0x8769).get(37510)]
            info = {str(name).lower(): value for name, value in picture.info.items()}
            values += [info.get(name) for name in ("title", "description", "comment", "caption", "alt")]
    except Exception as error:  # a parser may raise anything on unknown bytes
        raise InputError("it is no whole picture") from error
    return [text for value in values if (text := _decode_tag(value))]


def _decode_tag(value: object) -> str:
    if isinstance(value, str):
        return value.strip(" \0")
    if not isinstance(value, bytes):
        return ""
    if value[:8] in (b"ASCII\0\0\0", b"UNICODE\0", b"\0" * 8):
        value = value[8:]
    encoding = "utf-16-le" if value[1:2] == b"\0" else "utf-8"
    return value.decode(encoding, "ignore").strip(" \0")


def _read_sidecars(path: Path) -> list[str]:
    """Read the captions in files beside a picture: `a.png.txt`, `a.txt`, `a.md`, `a.caption`."""
    beside = [path.with_name(f"{path.name}.txt"), *(path.with_suffix(one) for one in (".txt", ".md", ".caption"))]
    texts = []
    for one in beside:
        try:
            if one.is_file() and not one.is_symlink() and one.stat().st_size < 65_536:
                texts.append(decode(one.read_bytes()))
        except (OSError, InputError):
            continue
    return texts


def _recognise(program: str, data: bytes) -> list[str]:
    try:
        done = subprocess.run([program, "-", "-"], input=data, capture_output=True, timeout=_OCR_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError("tesseract could not read it") from error
    return split_paragraphs(done.stdout.decode("utf-8", "replace"))


_CONFIGS = frozenset([".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".json", ".xml", ".sql", ".css", ".rq", ".ru"])
_FORMS: Mapping[str, str] = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".bmp"), "image"),
    **dict.fromkeys(
        (".jsonl", ".ndjson", ".ttl", ".trig", ".nq", ".nt", ".rdf", ".owl", ".jsonld", ".parquet"), "data"
    ),
    ".pdf": "pdf",
}
_MEDIA: Mapping[str, str] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "text/markdown": "markdown",
    "text/csv": "csv",
    **dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff"), "image"),
}
_READERS: Mapping[str, Reader] = {"pdf": _read_pdf, "image": _read_image}
_TEXT_READERS: Mapping[str, Callable[[str, Path], Extract]] = {
    "markdown": _read_markdown,
    "html": _read_html,
    "csv": _read_csv,
}
