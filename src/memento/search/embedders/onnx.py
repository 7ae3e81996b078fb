"""
The forward pass of all-MiniLM-L6-v2 in onnxruntime: the vectors of torch at half its time, started in 0.3 s instead of 5.

    {folder}/{fingerprint}-v1-{first 16 digits of its SHA-256}.onnx

*Flow:* `OnnxPass` → the file above, else `export` in a process of its own writes it once.

*Guarantees:* a file that does not have the digest in its name is not used but made anew; it is put in its place at once, so that
several processes may find out at the same time that it is not there.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memento.errors import EmbeddingError, MissingPart
from memento.ports import Vectors
from memento.search.embedders.weights import FINGERPRINT, digest_of, only_our_errors

if TYPE_CHECKING:
    from memento.search.embedders.minilm import Pieces

logger = logging.getLogger(__name__)

REMEDY = "run `pip install 'memento[onnx]'`, or set MEMENTO_EMBEDDING_RUNTIME=torch"
STEM = f"{FINGERPRINT}-v1"  # another number when `export` writes another graph
LONGEST_S = 600.0  # for the export; ten seconds are usual, more on a busy machine


class OnnxPass:
    """One forward pass after another, by onnxruntime on the CPU; may be shared by threads."""

    def __init__(self, threads: int, folder: Path) -> None:
        """
        Args:
            folder: where the exported model is kept; made when it is not there.

        Raises:
            MissingPart: a library is not installed.
            EmbeddingError: the model could not be exported or loaded.
        """
        with only_our_errors(REMEDY):
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            # Threads that spin while they wait make whatever else runs on a small machine several times slower.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            file = exported(folder) or _export(folder)
            self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def __call__(self, ids: Pieces, mask: Pieces) -> Vectors:
        """(n, 384) unit rows of n texts that are padded to one length."""
        rows: Vectors = self._session.run(["rows"], {"ids": ids, "mask": mask})[0]
        return rows


def is_possible(folder: Path) -> bool:
    """Whether the packages are there: onnxruntime, and those of the export unless that is done."""
    wanted = ["onnxruntime"] if any(folder.glob(f"{STEM}-*.onnx")) else ["onnxruntime", "onnx", "onnxscript"]
    return all(find_spec(name) for name in wanted)


def exported(folder: Path) -> Path | None:
    """The file, if it is there and whole; a broken one is removed."""
    for file in sorted(folder.glob(f"{STEM}-*.onnx")):
        if file.stem == f"{STEM}-{digest_of(file)[:16]}":
            return file
        file.unlink(missing_ok=True)
    return None


def _export(folder: Path) -> Path:
    for name in ("onnx", "onnxscript"):  # the process that exports could only say it less clearly
        if find_spec(name) is None:
            raise MissingPart(f"{name} is not installed: {REMEDY}")
    logger.info("embedding.exporting")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="export-", dir=folder) as beside:
        file = Path(beside) / "model.onnx"
        command = [sys.executable, "-m", "memento.search.embedders.export", str(file)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(command, capture_output=True, env=environment, timeout=LONGEST_S, check=False)
        if done.returncode or not file.is_file():
            last = done.stderr.decode(errors="replace").strip().rsplit("\n", 1)[-1]
            raise EmbeddingError(f"all-MiniLM-L6-v2 could not be exported: {last}; {REMEDY}")
        return file.replace(folder / f"{STEM}-{digest_of(file)[:16]}.onnx")
