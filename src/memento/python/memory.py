"""The Python methods of a memory, in this process or behind a service: one for each operation."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar, overload

from msgspec import structs

from memento.codec import decode
from memento.errors import InputError
from memento.operations import (
    Operation,
    care,
    cases,
    expressions,
    graphs,
    intake,
    keys,
    name_of,
    notes,
    sessions,
)
from memento.operations import recall as questions
from memento.operations import strength as strengths
from memento.operations.base import complete

if TYPE_CHECKING:
    from memento.model import Exported, Imported, Ingested, Merged, NoteRow, Upgraded
    from memento.ports import Progress

A = TypeVar("A")
P = ParamSpec("P")


class Method(Generic[P, A]):
    """A method that takes the arguments of an operation and calls it."""

    def __init__(
        self, operation: Callable[P, Operation[A]], prepare: Callable[[Any], Operation[A]] | None = None
    ) -> None:
        """
        Args:
            prepare: translates an operation as called here into one that means the same to a service elsewhere.
        """

        def method(memory: Memory, /, *args: P.args, **arguments: P.kwargs) -> A:
            asked = operation(*args, **arguments)
            return memory.call(prepare(asked) if prepare else asked)

        self._operation = operation
        self._method = method
        self._is_described = False

    @overload
    def __get__(self, memory: None, owner: type[Memory]) -> Callable[Concatenate[Memory, P], A]: ...
    @overload
    def __get__(self, memory: Memory, owner: type[Memory]) -> Callable[P, A]: ...
    def __get__(
        self, memory: Memory | None, owner: type[Memory]
    ) -> Callable[Concatenate[Memory, P], A] | Callable[P, A]:
        if not self._is_described:
            self._describe()
        if memory is None:
            method: Callable[Concatenate[Memory, P], A] = self._method
            return method
        bound: Callable[P, A] = partial(self._method, memory)
        return bound

    def _describe(self) -> None:
        """Copy the operation's name, signature and docstring; not at import, because that imports the model classes."""
        operation, method = self._operation, self._method
        assert isinstance(operation, type)
        complete(operation)
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        arguments = inspect.signature(operation).parameters.values()
        method.__name__ = method.__qualname__ = name_of(operation)
        method.__doc__ = operation.__doc__
        method.__signature__ = inspect.Signature([itself, *arguments])  # type: ignore[attr-defined]
        self._is_described = True


class Memory(ABC):
    """
    The methods of a memory; a context manager.

    Times are `datetime` or ISO 8601 text; a time without an offset is read in the user's time zone. Every method takes `namespace`,
    the namespace that it works on; default that of the memory.
    """

    on_notice: Callable[[str], None] = staticmethod(lambda notice: None)
    """Called with the notice about an answer that has no field `notice`: for example that the namespace has no memories."""

    @abstractmethod
    def call(self, operation: Operation[A], progress: Progress | None = None) -> A:
        """
        Answer an operation.

        Args:
            progress: called with (done, total) during long work.

        Raises:
            MementoError: as the operation says.
        """

    note = Method(notes.Note)
    note_status = Method(notes.NoteStatus)
    retry = Method(notes.Retry)
    mark = Method(notes.Mark)
    correct = Method(notes.Correct)
    undo = Method(notes.Undo)
    disputes = Method(notes.Disputes)
    settle = Method(notes.Settle)
    forget = Method(notes.Forget)
    forget_tagged = Method(notes.ForgetTagged)
    unforget = Method(notes.Unforget)
    sources = Method(notes.Sources)
    list_waiting = Method(notes.ListWaiting)

    recall = Method(questions.Recall)
    get = Method(questions.Get)
    list = Method(questions.List)
    tags = Method(questions.Tags)
    entities = Method(questions.Entities)
    timeline = Method(questions.Timeline)
    neighbours = Method(questions.Neighbours)
    find_path = Method(questions.FindPath)
    manifest = Method(questions.Manifest)
    infer = Method(questions.Infer)

    start_session = Method(sessions.StartSession)
    summarize_session = Method(sessions.SummarizeSession)
    profile = Method(sessions.Profile)
    set_page = Method(sessions.SetPage)
    pages = Method(sessions.Pages)
    read_page = Method(sessions.ReadPage)
    remove_page = Method(sessions.RemovePage)
    ask = Method(sessions.Ask)

    find_keys = Method(keys.FindKeys)
    read_key = Method(keys.ReadKey)
    read_memory = Method(keys.ReadMemory)
    related = Method(keys.Related)
    recall_memories = Method(keys.RecallMemories)
    remember = Method(keys.Remember)
    remember_batch = Method(keys.RememberBatch)
    conversation = Method(keys.Conversation)
    list_memories = Method(keys.ListMemories)
    cleanup_expired = Method(keys.CleanupExpired)
    compact = Method(care.Compact)
    relations = Method(questions.Relations)
    memory_stats = Method(keys.MemoryStats)

    strength = Method(strengths.Strength)
    feedback = Method(strengths.Feedback)
    associate = Method(strengths.Associate)
    trace = Method(strengths.Trace)
    activate = Method(strengths.Activate)
    decay = Method(strengths.Decay)
    archive = Method(strengths.Archive)
    list_fading = Method(strengths.ListFading)
    list_archived = Method(strengths.ListArchived)
    unarchive = Method(strengths.Unarchive)

    retrieve_cases = Method(cases.RetrieveCases)
    retrieve_cases_each = Method(cases.RetrieveCasesEach)
    reward_cases = Method(cases.RewardCases)
    get_case = Method(cases.GetCase)
    list_cases = Method(cases.ListCases)
    forget_case = Method(cases.ForgetCase)
    navigate_cases = Method(cases.NavigateCases)
    case_metrics = Method(cases.CaseMetrics)
    case_status = Method(cases.CaseStatus)
    prune_cases = Method(cases.PruneCases)
    add_cases = Method(cases.AddCases)

    start_case = Method(cases.StartCase)
    task_run = Method(cases.TaskRun)
    record_step = Method(cases.RecordStep)
    complete_case = Method(cases.CompleteCase)
    task_runs = Method(cases.TaskRuns)
    plan_task = Method(cases.PlanTask)
    execute_task = Method(cases.ExecuteTask)
    list_tools = Method(cases.ListTools)

    evaluate = Method(expressions.Evaluate)
    recall_items = Method(expressions.RecallItems)
    get_item = Method(expressions.GetItem)
    policies = Method(expressions.Policies)
    set_policy = Method(expressions.SetPolicy)

    query = Method(graphs.Query)
    update = Method(graphs.Update)
    get_graph = Method(graphs.GetGraph)
    put_graph = Method(graphs.PutGraph)
    post_graph = Method(graphs.PostGraph)
    patch_graph = Method(graphs.PatchGraph)
    delete_graph = Method(graphs.DeleteGraph)

    status = Method(care.Status)
    check = Method(care.Check)

    def import_notes(
        self,
        rows: Iterable[NoteRow | Mapping[str, Any]],
        *,
        consolidate: bool = True,
        dry_run: bool = False,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """Note many rows, each a `NoteRow` or a mapping with its keys; see `operations.notes.ImportNotes`."""
        read = tuple(_read_row(number, row) for number, row in enumerate(rows, start=1))
        return self.call(notes.ImportNotes(read, consolidate, dry_run, namespace=namespace), progress)

    def import_files(
        self,
        path: str | Path,
        *,
        source: str | None = None,
        all_turns: bool = False,
        **options: Any,
    ) -> Imported:
        """
        Note the content of a file or a folder of another program: see docs/import.md.

        Args:
            source: `chatgpt`, `claude`, `claude-code`, `codex`, `mem0`, `server-memory`, `basic-memory` or `obsidian`; default by
                the content of each file.
            all_turns: for chats, also import what assistants said.
            options: the options of `import_notes`.

        Raises:
            InputError: as `ImportNotes`; or a file has no known format, or is broken; names the file and the place.
        """
        from memento.intake.importers import harvest

        found = harvest(Path(path), source, all_turns=all_turns)
        return replace(self.import_notes(found.rows, **options), refused=tuple(found.refused))

    def ingest(
        self,
        file: str | Path,
        *,
        dry_run: bool = False,
        force: bool = False,
        exclude: Sequence[str] = (),
        most: int | None = None,
        source: str | None = None,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Ingested:
        """Ingest a file, a folder or a page; a path may be relative. See `operations.intake.Ingest`."""
        whole = str(file) if "://" in str(file) else str(Path(file).expanduser().absolute())
        asked = intake.Ingest(whole, dry_run, force, tuple(exclude), most, source, namespace=namespace)
        return self.call(asked, progress)

    index_project = Method(
        intake.IndexProject,
        lambda asked: structs.replace(asked, folder=str(Path(asked.folder).expanduser().absolute())),
    )

    memory_file = Method(intake.MemoryFile)
    capture = Method(intake.Capture)
    proposals = Method(intake.Proposals)
    accept_proposals = Method(intake.AcceptProposals)
    reject_proposals = Method(intake.RejectProposals)
    write_ahead_log = Method(intake.WriteAheadLog)

    def export(
        self,
        file: str | Path,
        *,
        form: str | None = None,
        vectors: bool = False,
        audit: bool = False,
        past: bool = False,
        anonymise: bool = False,
        dates: Literal["keep", "month", "year"] = "keep",
        pseudonym_key_file: str | Path | None = None,
        tags: Sequence[str] = (),
        container: str | None = None,
        source: str | None = None,
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        entity: str | None = None,
        overwrite: bool = False,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        """Write the graphs, or selected memories alone, into a file; see `operations.care.Export`."""
        export = care.Export(
            file,
            form,
            vectors,
            audit,
            past,
            anonymise,
            dates,
            pseudonym_key_file,
            overwrite,
            tags=tags,
            container=container,
            source=source,
            after=after,
            before=before,
            entity=entity,
            namespace=namespace,
        )
        return self.call(export, progress)

    def import_rdf(
        self,
        file: str | Path,
        *,
        form: str | None = None,
        data: str | None = None,
        check: bool = True,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Merged:
        """Import an RDF document; see `operations.care.ImportRdf`."""
        return self.call(care.ImportRdf(file, form, data, check, namespace=namespace), progress)

    def rebuild(self, progress: Progress | None = None) -> int:
        """Rebuild every index from the graph; see `operations.care.Rebuild`."""
        return self.call(care.Rebuild(), progress)

    def upgrade(self, progress: Progress | None = None) -> Upgraded:
        """Read what memories of an earlier version claim; see `operations.care.Upgrade`."""
        return self.call(care.Upgrade(), progress)

    migrate = Method(care.Migrate)
    sync = Method(care.Sync)
    backup = Method(care.Backup)
    restore = Method(care.Restore)
    probe_store = Method(care.ProbeStore)
    list_tenants = Method(care.ListTenants)
    list_tokens = Method(care.ListTokens)
    create_token = Method(care.CreateToken)
    revoke_token = Method(care.RevokeToken)

    @property
    @abstractmethod
    def ready(self) -> bool:
        """Tell whether the memory is warm: the embedder is loaded, and one question was answered."""

    def close(self) -> None:  # noqa: B027
        """Release all resources; calling it twice is harmless."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _read_row(number: int, row: object) -> NoteRow:
    """Return a row of an import; raise an `InputError` that names the row, counted from 1."""
    from memento.model import NoteRow

    if isinstance(row, NoteRow):
        return row
    if not isinstance(row, Mapping):
        raise InputError(f"row {number} must be a NoteRow or a mapping, not {type(row).__name__}")
    known = [field.name for field in fields(NoteRow)]
    if unknown := [str(key) for key in row if key not in known]:
        raise InputError(f"row {number} has no {', '.join(unknown)[:200]}: its keys are {', '.join(known)}")
    try:
        return decode(NoteRow, dict(row))
    except InputError as error:
        raise InputError(f"row {number}: {error}") from error


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
        known = {*intake.MemoryFile.__struct_fields__} - {"namespace"}  # a model does not choose the namespace
        asked = {name: value for name, value in given.items() if name in known and value is not None}
        try:
            answer = self._memory.memory_file(**asked)
        except InputError as error:
            raise _as_tool_error(f"Error: {error}") from error
        if answer.failed:
            raise _as_tool_error(answer.text)
        return answer.text

    execute = view = create = str_replace = insert = delete = rename = call


def _as_tool_error(message: str) -> Exception:
    try:
        from anthropic.lib.tools import ToolError
    except ImportError:
        return InputError(message)
    return ToolError(message)
