"""Load what the package ships: its name and version, ontology, queries and prompts, from the wheel or from a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from memento.errors import MissingPart

VERSION = "0.1.0"
"""The version of the package, as in `pyproject.toml`."""

DISTRIBUTION = "memento-rdf"
"""The name to install, as in `pyproject.toml`: the name `memento` alone belongs to another package."""

_INSIDE = Path(__file__).parent / "_assets"
_CHECKOUT = Path(__file__).parents[2]
_PROMPTS = Path(__file__).parent / "prompts"


def install_line(extra: str = "") -> str:
    """
    Return the command that installs Memento, with an extra.

    >>> install_line("otel")
    "pip install 'memento-rdf[otel]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'" if extra else f"pip install {DISTRIBUTION}"


@cache
def folder(name: str) -> Path:
    """
    Find the folder `ontology` or `queries`.

    Raises:
        MissingPart: the installation is not complete.
    """
    for root in (_INSIDE, _CHECKOUT):
        if (root / name).is_dir():
            return root / name
    raise MissingPart(f"the folder {name!r} is not part of this installation: install Memento again from its wheel")


def read(name: str) -> bytes:
    """
    Read one file by its path, such as `ontology/memento.ttl`.

    Raises:
        MissingPart: there is no such file.
    """
    top, _, rest = name.partition("/")
    path = folder(top) / rest
    if not path.is_file():
        raise MissingPart(f"the file {name!r} is not part of this installation: install Memento again from its wheel")
    return path.read_bytes()


@cache
def read_prompt(name: str) -> str:
    """
    Read a prompt by its name, such as `plan`.

    Raises:
        MissingPart: there is no such prompt.
    """
    path = _PROMPTS / f"{name}.md"
    if not path.is_file():
        raise MissingPart(f"the prompt {name!r} is not part of this installation: install Memento again from its wheel")
    return path.read_text(encoding="utf-8")


def queries() -> list[str]:
    """List the name of every query, such as `retrieval/trace`, sorted."""
    root = folder("queries")
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.r[qu]"))


def lexicon(name: str) -> list[str]:
    """
    Return the lines of a word list of `text/lexicon`, without comments and blank lines.

    Raises:
        MissingPart: there is no such list.
    """
    path = Path(__file__).parent / "text" / "lexicon" / f"{name}.txt"
    if not path.is_file():
        raise MissingPart(
            f"the word list {name!r} is not part of this installation: install Memento again from its wheel"
        )
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]
