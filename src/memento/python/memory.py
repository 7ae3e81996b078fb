"""The Python methods of a memory, in this process or behind a service: one for each operation."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from memento.errors import InputError
from memento.operations import TABLE, Operation, graphs
from memento.python.methods import SHOWN
from memento.python.rows import ACCEPTED, Rows, parse_answer

if TYPE_CHECKING:
    from memento.ports import Progress
    from memento.python.signatures import Everyday
else:
    from memento.python.methods import Everyday

A = TypeVar("A")


class _Listed(ABCMeta):
    """Lists what one uses every day and the groups; the rest is for programs that embed a memory."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name.startswith("_") or name in SHOWN]


class Memory(Everyday, metaclass=_Listed):
    """
    The methods of a memory; a context manager.

    `dir` lists what one uses every day, and the groups of all other methods, such as `memento.intake`; `print(memento.intake)`
    shows what is in a group.

    Times are `datetime` or ISO 8601 text; a time without an offset is read in the user's time zone. Every method takes `namespace`,
    the namespace that it works on; default that of the memory.
    """

    on_notice: Callable[[str], None] = staticmethod(lambda notice: None)
    """Called with the notice about an answer that has no field `notice`: for example that the namespace has no memories."""

    left_out: Collection[str] = ()
    """The plug-ins that are switched off, as far as this process knows them."""

    @abstractmethod
    def call(self, operation: Operation[A], progress: Progress | None = None) -> A:
        """
        Answer an operation.

        Args:
            progress: called with (done, total) during long work.

        Raises:
            MementoError: as the operation says.
        """

    def query(
        self,
        sparql: str,
        *,
        timeout_s: float | None = None,
        default_graphs: Sequence[str] | None = None,
        named_graphs: Sequence[str] | None = None,
        namespace: str | None = None,
    ) -> Rows:
        """
        Answer a read-only SPARQL query over the caller's graphs: rows, or `Triples` for a CONSTRUCT or a DESCRIBE.

        `graphs.query_bytes` returns the answer as it is sent, in any format; it explains which graphs a query reads.

        Args:
            timeout_s: timeout in seconds, at most `sparql.query_s`, which is the default.
            default_graphs: instead of FROM; what the caller may not see is left out.
            named_graphs: instead of FROM NAMED; what the caller may not see is left out.

        Raises:
            InputError: invalid SPARQL; the message has line and column.
            MementoError: as `graphs.query_bytes`.
        """
        asked = graphs.Query(sparql, ACCEPTED, timeout_s, default_graphs, named_graphs, namespace=namespace)
        return parse_answer(*self.call(asked))

    @property
    @abstractmethod
    def ready(self) -> bool:
        """Tell whether the memory is warm: the embedder is loaded, and one question was answered."""

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def close(self) -> None:
        """Release all resources; calling it twice is harmless."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class MemoryTool:
    """
    Claude's memory tool over a memory, for the tool runner of the Anthropic SDK.

        client.beta.messages.tool_runner(..., tools=[MemoryTool(memento)])

    The files that the model writes are stored in the graph of the memory's namespace, so that recall finds their content.

    *Because:* the SDK recognizes tools by their class. The constructor registers this class as one of them, so that importing this
    module does not import the SDK.
    """

    name = "memory"

    def __init__(self, memory: Memory, *, cache_control: Mapping[str, Any] | None = None) -> None:
        """
        Args:
            cache_control: the marker for the provider's cache, as in the SDK.
        """
        self._memory, self._cache_control = memory, cache_control
        try:
            from anthropic.lib.tools import BetaAbstractMemoryTool
        except ImportError:  # a caller that handles the tool calls itself needs no SDK
            return
        BetaAbstractMemoryTool.register(type(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the tool's entry in a request."""
        marked = {} if self._cache_control is None else {"cache_control": dict(self._cache_control)}
        return {"type": "memory_20250818", "name": self.name, **marked}

    def call(self, input: object) -> str:
        """
        Run a command: the input of a `tool_use` block, as a mapping or as an object with the same fields.

        Raises:
            ToolError: the command failed; its message tells the model why. Without the SDK an `InputError`.
        """
        given = input if isinstance(input, Mapping) else vars(input)
        known = {*TABLE["memory_file"].__struct_fields__} - {"namespace"}  # a model does not choose the namespace
        asked = {name: value for name, value in given.items() if name in known and value is not None}
        try:
            answer = self._memory.intake.memory_file(**asked)
        except InputError as error:
            raise _as_tool_error(f"Error: {error}") from error
        if answer.failed:
            raise _as_tool_error(answer.text)
        return str(answer.text)

    execute = view = create = str_replace = insert = delete = rename = call


def _as_tool_error(message: str) -> Exception:
    try:
        from anthropic.lib.tools import ToolError
    except ImportError:
        return InputError(message)
    return ToolError(message)
