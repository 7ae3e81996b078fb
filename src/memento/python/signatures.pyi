"""
The methods of a memory, for type checkers and editors.

Made by `make docs` from `src/memento/operations/`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memento.iris import IRI
from memento.model import (
    Association,
    BackedUp,
    CapturedTurn,
    Capturing,
    CaseShown,
    CasesFound,
    Changed,
    Compacted,
    Decided,
    Described,
    Difference,
    Dispute,
    Exported,
    Fading,
    Forgotten,
    ImportShown,
    ImportUndone,
    Imported,
    Inferred,
    Listed,
    LogEntry,
    Manifest,
    Marked,
    Merged,
    Migrated,
    Neighbourhood,
    NoteRow,
    NoteStatus,
    Noted,
    Profile,
    Proposal,
    RecalledEntity,
    Recollection,
    Relation,
    Replied,
    Restored,
    SessionBundle,
    SessionSummary,
    Settled,
    Source,
    Status,
    Strength,
    TagCount,
    TenantShown,
    Timeline,
    TokenShown,
    ToolCall,
    Undone,
    Unforgotten,
    Upgraded,
)
from memento.ports import Progress
from memento.plugins.cases.nouns import (
    CaseMetrics,
    CaseRow,
    CaseStatus,
    Completed,
    Credited,
    Executed,
    Navigated,
    Offered,
    Planned,
    TaskRun,
)
from memento.plugins.guard.nouns import Synced
from memento.plugins.intake.nouns import Adopted, FileAnswer, Ingested
from memento.plugins.keys.nouns import (
    BatchRow,
    Cleaned,
    DirectRecall,
    FoundKeys,
    KeyPage,
    MemoryRow,
    MemoryStats,
    OpenedMemory,
    Related,
    Remembered,
    TextPiece,
    ToRemember,
    TurnRow,
)
from memento.plugins.living.nouns import (
    Activated,
    Archived,
    Evaluated,
    FadingMemory,
    Followed,
    Item,
)
from memento.plugins.scale.nouns import Probed

class AdminMethods:
    """A descriptor: the methods of a group, bound to a memory."""

    def check(
        self,
        *,
        namespace: str | None = None,
    ) -> tuple[Difference, ...]:
        """
        Read the whole store, and compare indexes and shapes with the graph; the answer is empty if all is well.

        Notes that are not understood yet are listed too (`pending-note`, `failed-note`).

        Args:
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the caller may not administer the whole data folder.
        """

    def rebuild(
        self,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> int:
        """
        Rebuild every index from the graph; return how many texts were embedded or taken from the cache.

        Args:
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the caller may not administer the whole data folder.
        """

    def upgrade(
        self,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Upgraded:
        """
        Read what memories of an earlier version claim, after a backup; their texts stay as they are, and nothing ends.

        The claims of rows that were imported as they are, and whose reading waits, are read too. Nothing is read twice.

        Args:
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the caller may not administer the whole data folder.
            InputError: no backup can be made.
        """

    def compact(
        self,
        dry_run: bool = False,
        ttl_days: float = 180.0,
        max_entries: int = 10000,
        threshold: float = 0.92,
        newest: int = 500,
        branch: str | None = None,
        undo: bool = False,
        lines: int = 100,
        *,
        namespace: str | None = None,
    ) -> Compacted:
        """
        Tidy up the namespace: hide what is old, merge duplicates, hide the least important memories if there are too many.

        A dry run stages the changes as a graph branch and lists what would be hidden. `branch` applies that branch exactly as shown;
        `undo` reverts the latest run, or that of `branch`. Memories are hidden, not deleted. Recall keeps working meanwhile.

        Args:
            dry_run: only stage it, and show what would be hidden
            ttl_days: days after it was written when a memory is old; 0: never
            max_entries: memories to keep; above it, the least important are hidden
            threshold: cosine from which two memories may be duplicates
            newest: how many of the newest are compared with each other; 0: none
            branch: a staged branch to apply; with `undo` an applied one
            undo: bring back exactly what a run has hidden
            lines: most lines in the list of what is hidden
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: this namespace has no such branch that can be applied or undone.
            InputError: a number out of range, or a dry run of `undo` or of a `branch`.
        """

    def migrate(
        self,
        model: str | None = None,
        provider: str | None = None,
        dimensions: int | None = None,
        base_url: str | None = None,
        force: bool = False,
        dry_run: bool = False,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Migrated:
        """
        Migrate the memory to another embedder: the new vectors are built next to the old ones, which are used until the new are
        complete.

        A backup is made first. What is written meanwhile gets new vectors too. Then the new vectors replace the old ones in one step,
        and `memento.toml` of the data folder names the new embedder. If the process is killed, the next call continues where it was.

        Args:
            model: `minilm`, `trigram`, a model's folder, or a provider's name; default by the settings
            provider: as in the setting `embedding.provider`; its key comes from the settings
            dimensions: length of a vector; required unless local
            base_url: address of the service; openai-compatible and ollama only
            force: embed everything again, even if the embedder is the same or its vectors exist already
            dry_run: only say what would be done, and change nothing
            namespace: the namespace; default that of the caller

        Raises:
            SettingsError: an unknown embedder, or the environment would choose another one at the next start.
            EmbeddingError: the embedder fails; the memory is unchanged, and what was embedded is kept for the next try.
            Conflict: a migration is running already, or a backup was restored meanwhile.
            Forbidden: the caller may not administer the whole data folder, or may not name a model.
        """

    def backup(
        self,
        folder: Path | str | None = None,
        keep: int | None = None,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> BackedUp:
        """
        Make a backup while the memory is in use: a consistent snapshot of store and vectors, and the settings, without tokens.

        Args:
            folder: where to put it, on the machine of the service; default `backups` in the data folder
            keep: how many of the latest backups to keep there; default all
            namespace: the namespace; default that of the caller

        Raises:
            InputError: the folder contains other things, or cannot be written.
            Damaged: the store's files cannot be read completely; older backups stay.
            Forbidden: the caller may not administer the whole data folder, or may not name a folder.
        """

    def restore(
        self,
        folder: Path | str | None = None,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Restored:
        """
        Replace the memory by a backup; the current memory is moved aside and kept.

        Tokens stay as they are, and so do settings if there are any.

        Args:
            folder: a backup, or a folder of backups, whose latest is used; default as for `backup`
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: there is no backup.
            InputError: it is damaged, or newer than this version; the memory is unchanged.
            Forbidden: the caller may not administer the whole data folder, or may not name a folder.
        """

    def list_tenants(
        self,
        *,
        namespace: str | None = None,
    ) -> tuple[TenantShown, ...]:
        """
        List the tenants that have data, by name, each with the number of its statements.

        Args:
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the caller may not administer the whole memory.
        """

    def list_tokens(
        self,
        *,
        namespace: str | None = None,
    ) -> tuple[TokenShown, ...]:
        """
        List the valid tokens, oldest first, without their secrets.

        Args:
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the caller may not administer the whole data folder.
        """

    def create_token(
        self,
        name: str,
        scope: Literal["read", "write", "admin"] = "read",
        namespaces: Sequence[str] = (),
        tenant: str = "local",
        graphs: Sequence[str] = (),
        *,
        namespace: str | None = None,
    ) -> TokenShown:
        """
        Create a token; the answer's `token` is shown only once.

        Args:
            name: what to call it
            scope: what the token allows
            namespaces: the namespaces where it is valid; default all
            tenant: whose memory it opens
            graphs: the free graphs that a token for some namespaces reads, by name; with `:write` behind a name, it writes that graph too; a token for all namespaces reads all
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the caller is not the owner on the machine of the memory: a token cannot create another.
            Conflict: there is a token of that name.
            InputError: graphs for a token of all namespaces, or that can be none of its tenant.
        """

    def revoke_token(
        self,
        name: str,
        *,
        namespace: str | None = None,
    ) -> TokenShown:
        """
        Make a token invalid from the next request on.

        Args:
            name: the token, by its name
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: there is no such token.
            Forbidden: the caller may not administer the whole data folder.
        """

    def sync(
        self,
        folder: Path | str,
        dry_run: bool = False,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Synced:
        """
        Synchronise the memory with those of other machines through a folder that all of them can reach, in a cloud or on a USB stick.

        Each machine writes its changes there as numbered patches and applies those of the others, all or nothing and in any order. A
        patch is only changed to remove what was erased. What was said on several machines is all kept; `disputes` lists what can hardly
        both be true. What is forgotten or erased on one machine is so on all.

        Args:
            folder: the folder with the patches, on the machine of the service
            dry_run: only say what would be sent and applied, and change nothing
            namespace: the namespace; default that of the caller

        Raises:
            InputError: a patch is damaged or missing, by name, or the folder cannot be written; nothing is applied.
            ShapeViolation: a patch would break a shape.
            Forbidden: the caller may not administer the whole data folder, or may not name a folder.
        """

    def probe_store(
        self,
        query_url: str,
        update_url: str,
        token: str | None = None,
        quick: bool = False,
        *,
        namespace: str | None = None,
    ) -> Probed:
        """
        Test whether a SPARQL endpoint can store a memory: what Memento needs, whether the endpoint has it, and the request that shows
        it.

        The test takes about 10 s. It writes only to graphs below `urn:memento:probe:`, which it removes at the end. If the endpoint
        cannot be reached, the answer has no findings.

        Args:
            query_url: address for queries, such as http://127.0.0.1:7878/query
            update_url: address for updates, such as http://127.0.0.1:7878/update
            token: sent to both as a bearer token
            quick: only test, in a second, what would lose memories or show them to others
            namespace: the namespace; default that of the caller

        Raises:
            InputError: an invalid address.
            Forbidden: the caller is not a program of the owner on the machine of the memory.
        """

class CasesMethods:
    """A descriptor: the methods of a group, bound to a memory."""

    def add(
        self,
        rows: Iterable[CaseRow | Mapping[str, Any]],
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> tuple[IRI, ...]:
        """
        Store finished tasks as cases, in one write; return their IRIs in the order of the rows.

        If the domain then has more than `cases.limit` cases, it is pruned as `cases.prune` says.

        Args:
            rows: the tasks, each with what was done and how it ended
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            InputError: an empty task or plan, an unknown outcome, or a reward that is out of range or contradicts the outcome;
                the message names the row, counted from 1; nothing is stored.
            TooLong: a text over `limits.text_bytes`.
            BackendError: store or embedder failed; nothing was written.
        """

    def retrieve(
        self,
        task: str,
        k: int | None = None,
        about: Sequence[str] = (),
        tags: Sequence[str] = (),
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        explore: bool = False,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> CasesFound:
        """
        Find the cases to follow and those to avoid for a task, best first, with the reason for each.

        The retrieval is stored, and `retrieval` is its IRI, so that `reward_cases` can credit the cases. If the domain has no cases, or
        the memory is read-only, nothing is stored and `retrieval` is null.

        Args:
            task: what is to be done
            k: most cases in each section; default 4
            about: IRIs of entities that it concerns, in addition to those that it names
            tags: words for the kind of task
            since: only cases finished at this time or later
            until: only cases finished before this time
            explore: draw the cases to follow at random, the better ones more often
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            InputError: empty task, k out of range.
            TooLong: task over `limits.text_bytes`.
            Forbidden: no access to the domain.
        """

    def retrieve_each(
        self,
        tasks: Sequence[str],
        k: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> tuple[CasesFound, ...]:
        """
        Find the cases for each of several tasks, which are embedded together.

        Args:
            tasks: what is to be done
            k: most cases in each section; default 4
            since: only cases finished at this time or later
            until: only cases finished before this time
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            InputError: too many tasks.
        """

    def reward(
        self,
        retrieval: str,
        outcome: Literal["success", "partial", "failure"] | None = None,
        reward: float | None = None,
        efficiency: float | None = None,
        score: float | None = None,
        single: Mapping[str, float] | None = None,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> Credited:
        """
        Report the reward of a task for which cases were retrieved: they share the credit equally, and the Q function learns.

        The verdict is an outcome, which implies a reward, or the reward itself. A later verdict replaces an earlier one.

        Args:
            retrieval: the IRI from `retrieve_cases`
            outcome: how the task ended
            reward: what it earned; it overrides the reward of an outcome, and must not contradict the outcome
            efficiency: the share of its cost that it saved
            score: a judge's score
            single: the rewards of single cases by IRI; without a verdict the others get none
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such retrieval in this domain, or it did not show a case of `single`.
            InputError: neither a verdict nor a reward, or out of range.
        """

    def get(
        self,
        case: str,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> CaseShown:
        """
        Show everything about one case, including its verdicts and steps.

        Args:
            case: the case
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such case in this domain.
        """

    def list(
        self,
        task: str | None = None,
        limit: int = 50,
        offset: int = 0,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> tuple[CaseShown, ...]:
        """
        List the cases of a domain, latest first or most similar to a task first, without steps and verdicts.

        Args:
            task: rank the cases by similarity to this task
            limit: most rows
            offset: how many rows to skip
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller
        """

    def forget(
        self,
        case: str,
        erase: bool = False,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> IRI:
        """
        Hide a case from every retrieval.

        Args:
            case: the case
            erase: also delete its texts, steps, verdicts and every record that it was shown; Q is then trained again
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such case in this domain.
        """

    def navigate(
        self,
        zoom: Literal["case", "subtask", "community"] = "case",
        pan: Sequence[str] = (),
        tilt: Literal["embedding", "keyword", "graph", "temporal"] | None = None,
        task: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        previous: str | None = None,
        limit: int = 20,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> Navigated:
        """
        View the cases of a domain by zoom, pan and tilt; if there are any, the view is stored.

        Args:
            zoom: what to show: cases, their steps, or communities of cases that share entities
            pan: only what matches all of these: entities by IRI or name, or words of the task
            tilt: the order: by similarity to `task`, its words, shared entities, or time; default embedding with a task, temporal without
            task: the task that cases are compared with
            since: only cases finished at this time or later
            until: only cases finished before this time
            previous: an earlier view: what was in it ranks a little higher
            limit: most rows
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            InputError: an unknown zoom or tilt, no task where the tilt needs one, or limit out of range.
            NotFound: no such earlier view.
        """

    def metrics(
        self,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> CaseMetrics:
        """
        Show how well the cases of a domain work: rankings, success, execution, the learning curve, costs.

        Args:
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller
        """

    def status(
        self,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> CaseStatus:
        """
        Show how many cases a domain has, and how far its Q function is trained.

        Args:
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller
        """

    def prune(
        self,
        keep: int,
        strategy: Literal["value", "oldest", "unused", "reward"] | None = None,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> tuple[IRI, ...]:
        """
        Prune the cases of a domain down to `keep`, in the order of the strategy; return those that were removed.

        Args:
            keep: how many cases stay
            strategy: which to remove: worth least, finished first, shown least, earned least; default `cases.prune`
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller
        """

    def start(
        self,
        task: str,
        plan: str | None = None,
        retrieval: str | None = None,
        about: Sequence[str] = (),
        derived_from: Sequence[str] = (),
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> TaskRun:
        """
        Start to record how a task is carried out; `complete_case` turns it into a case.

        Args:
            task: what is to be done
            plan: the plan, if it is known; `complete_case` may give a better one
            retrieval: the retrieval of cases for it; these cases will share its reward
            about: IRIs of entities that it concerns, in addition to those that it names
            derived_from: memories and notes that it uses
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such retrieval in this domain.
        """

    def task_run(
        self,
        run: str,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> TaskRun:
        """
        Show a task in progress or done, with its steps in order.

        Args:
            run: the task: the IRI from `start_case` or `plan_task`
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such run in this domain.
        """

    def record_step(
        self,
        run: str,
        task: str,
        result: str | None = None,
        state: Literal["pending", "done", "skipped", "failed"] = "done",
        tools: Iterable[ToolCall | Mapping[str, Any]] = (),
        step: int | None = None,
        derived_from: Sequence[str] = (),
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> TaskRun:
        """
        Record one step of a task with its tool calls.

        Args:
            run: the task under way
            task: what the step does
            result: the result of the step
            state: the state of the step
            tools: its tool calls
            step: its place, counted from 0; an existing step is replaced; default after the last
            derived_from: memories and notes that it uses
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such run in this domain.
            Conflict: it is complete already.
        """

    def complete(
        self,
        run: str,
        outcome: Literal["success", "partial", "failure"] | None = None,
        plan: str | None = None,
        reward: float | None = None,
        efficiency: float | None = None,
        score: float | None = None,
        reason: str | None = None,
        tags: Sequence[str] = (),
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> Completed:
        """
        Complete a task: it becomes a case with its reward, and the cases that were retrieved for it share the credit.

        Args:
            run: the task under way
            outcome: how it ended
            plan: what was done; default the plan it started with, else its steps
            reward: what it earned; it overrides the reward of an outcome, and must not contradict the outcome
            efficiency: the share of its cost that it saved
            score: a judge's score
            reason: why the verdict is what it is
            tags: words for the kind of task
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such run in this domain.
            Conflict: it is complete already.
            InputError: no verdict, or nothing that could be its plan.
        """

    def task_runs(
        self,
        state: Literal["pending", "done", "skipped", "failed"] | None = None,
        limit: int = 50,
        offset: int = 0,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> tuple[TaskRun, ...]:
        """
        List the tasks of a domain, latest first, without their steps; `pending` ones are in progress or were abandoned.

        Args:
            state: only tasks in this state
            limit: most rows
            offset: how many rows to skip
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller
        """

    def plan_task(
        self,
        task: str,
        steps: Sequence[str] = (),
        retrieval: str | None = None,
        k: int | None = None,
        about: Sequence[str] = (),
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> Planned:
        """
        Plan a task, based on the most similar cases; the plan is stored, and `execute_task` carries it out.

        If the settings have a model, it makes the plan. Otherwise the plan of the best successful case is copied, and the things that
        its task names are replaced by those that this task names.

        Args:
            task: what is to be done
            steps: your own plan; similar cases had no part in it, and share no reward
            retrieval: the retrieval that your steps are based on; its cases then share the reward
            k: most cases in each section that are retrieved for it
            about: IRIs of entities that it concerns, in addition to those that it names
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            InputError: neither steps, nor a model, nor a case to follow; a retrieval without steps; or more steps than a task may have.
            NotFound: no such retrieval in this domain.
            ModelError: the model gave no usable plan.
            ToolError: a configured server cannot be used.
        """

    def execute_task(
        self,
        run: str,
        uncertain: Literal["ask", "repeat", "skip"] = "ask",
        complete: bool = True,
        domain: str | None = None,
        *,
        namespace: str | None = None,
    ) -> Executed:
        """
        Carry out a task from its next step on, with the tools of the servers in `[executor]`.

        The call ends when all steps are done, when no plan is left after a failure, at a limit, or at a step that lacks a model or a
        tool. In the last two cases, or if the process died, the next call continues from there.

        Args:
            run: the task: the IRI from `plan_task`
            uncertain: what to do about a tool call that was running when the process ended
            complete: turn it into a case when it is done or has failed; false: leave that to `complete_case`
            domain: the case bank; default the one named like the namespace
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the caller may not use the whole data folder: tools run in its owner's name.
            NotFound: no such run in this domain.
            Conflict: it is complete already, or it is running now.
            ToolError: a configured server cannot be used.
        """

    def list_tools(
        self,
        *,
        namespace: str | None = None,
    ) -> tuple[Offered, ...]:
        """
        List the tools of the servers in `[executor]`.

        Args:
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the caller may not use the whole data folder.
            ToolError: a configured server cannot be used.
        """

class GraphsMethods:
    """A descriptor: the methods of a group, bound to a memory."""

    def relations(
        self,
        iri: str | None = None,
        entity: str | None = None,
        limit: int = 50,
        *,
        namespace: str | None = None,
    ) -> tuple[Relation, ...]:
        """
        Find how other memories are related to one, or which memories are about an entity or a piece of code, strongest first.

        Args:
            iri: a memory
            entity: its name or a clear part of it, its IRI, `me`, or a file, function, URL or variable
            limit: most rows
            namespace: the namespace; default that of the caller

        Raises:
            InputError: neither or both of `iri` and `entity`, or a limit out of range.
            NotFound: no such memory here, or nothing goes by the name of `entity`.
        """

    def entities(
        self,
        limit: int = 10,
        *,
        namespace: str | None = None,
    ) -> tuple[RecalledEntity, ...]:
        """
        List the entities that most memories are about, the most mentioned first.

        Args:
            limit: most rows
            namespace: the namespace; default that of the caller

        Raises:
            InputError: limit out of range.
        """

    def neighbours(
        self,
        nodes: Sequence[str],
        limit: int = 30,
        *,
        namespace: str | None = None,
    ) -> Neighbourhood:
        """
        Show what some memories, entities or notes are linked with, newest first, and all links among these nodes.

        Args:
            nodes: names of entities, IRIs, or `me`
            limit: most neighbours of each; 0: only the links among them
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: nothing goes by one of the names.
            InputError: no node, or too many.
        """

    def find_path(
        self,
        start: str,
        end: str,
        steps: int = 6,
        *,
        namespace: str | None = None,
    ) -> Neighbourhood:
        """
        Find the shortest path from one thing to another over what memories are about, mention, replace, contradict and come from.

        A path over the user, whom nearly every memory is about, comes last. If there is no path, the answer has no links.

        Args:
            start: the name of an entity, an IRI, or `me`
            end: the name of an entity, an IRI, or `me`
            steps: most links of the path
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: nothing goes by one of the names.
        """

    def manifest(
        self,
        fresh: bool = False,
        *,
        namespace: str | None = None,
    ) -> Manifest:
        """
        Draw the map of what the namespace reads: its regions, its key nodes, what is new and what fades.

        `text` is the same map in 500 tokens. The map is cached. When it is older than 30 seconds, or after
        100 changes, it is drawn again in the background.

        Args:
            fresh: draw it now instead of using the cache, however long that takes
            namespace: the namespace; default that of the caller
        """

    def query_bytes(
        self,
        sparql: str,
        accept: str = "",
        timeout_s: float | None = None,
        default_graphs: Sequence[str] | None = None,
        named_graphs: Sequence[str] | None = None,
        *,
        namespace: str | None = None,
    ) -> tuple[bytes, str]:
        """
        Answer a read-only SPARQL query over the caller's graphs: return the serialised answer and its media type.

        Without FROM, the default graph is the union of the namespace's graphs, the free graphs that the caller may read, and what
        follows from them.
        GRAPH reads each of these, the ontology, the tenant's provenance graph, and for an admin the audit graph. `SERVICE mem:search`,
        `SERVICE mem:asOf` and `mem:similarity` query the memory from inside the query: see docs/memory-in-sparql.md.

        Args:
            sparql: the query
            accept: an HTTP Accept header; default JSON for rows and Turtle for graphs
            timeout_s: timeout in seconds, at most `sparql.query_s`, which is the default
            default_graphs: instead of FROM; what the caller may not see is left out
            named_graphs: instead of FROM NAMED; what the caller may not see is left out
            namespace: the namespace; default that of the caller

        Raises:
            InputError: invalid SPARQL; the message has line and column.
            NotAcceptable: no offered media type fits.
            Forbidden: an update, SERVICE, or FROM with a graph of somebody else.
            TooLong: longer than `limits.query_bytes`.
            Busy: too many queries wait.
            TimedOut, TooMuch: it took more time, memory, rows or bytes than allowed; the message names the limit.
        """

    def update(
        self,
        sparql: str,
        using_graphs: Sequence[str] | None = None,
        using_named_graphs: Sequence[str] | None = None,
        timeout_s: float | None = None,
        *,
        namespace: str | None = None,
    ) -> Changed:
        """
        Run a SPARQL update atomically, in the graphs that the caller may write.

        A pattern without GRAPH reads what a query reads. A template without GRAPH, and DEFAULT, mean the graph of the namespace.

        Args:
            sparql: the update
            using_graphs: what patterns read, instead of USING
            using_named_graphs: what patterns read, instead of USING NAMED
            timeout_s: timeout in seconds, at most `sparql.query_s`, which is the default
            namespace: the namespace; default that of the caller

        Raises:
            InputError: invalid SPARQL; the message has line and column.
            Forbidden: LOAD, SERVICE, a graph that is not the caller's, or no right to write.
            ShapeViolation: memories would break a shape; the report says how to fix them.
            NotFound, Conflict: it requires a graph to exist that does not, or the other way round.
            TooLong: its text, or what it changes, is over a limit; the message names the limit.
            Busy, TimedOut, TooMuch: as `query`.
        """

    def get(
        self,
        graph: str | None = None,
        accept: str = "",
        *,
        namespace: str | None = None,
    ) -> tuple[bytes, str]:
        """
        Read all triples of a graph: return the serialised document and its media type.

        Args:
            graph: its IRI; default the graph of the namespace
            accept: an HTTP Accept header; default JSON for rows and Turtle for graphs
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: there is no such graph.
            Forbidden: it is not the caller's graph, whether it exists or not.
            NotAcceptable: no offered media type fits.
        """

    def put(
        self,
        document: bytes,
        graph: str | None = None,
        media: str = "text/turtle",
        *,
        namespace: str | None = None,
    ) -> Changed:
        """
        Replace the content of a graph by a document.

        Args:
            document: the triples
            graph: its IRI; the graph of memories is only replaced if you name it
            media: of the document: Turtle, N-Triples, RDF/XML, JSON-LD, N3, or TriG and N-Quads of one graph
            namespace: the namespace; default that of the caller

        Raises:
            InputError: the document is not well formed, or its media type is not supported.
            Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
        """

    def post(
        self,
        document: bytes,
        graph: str | None = None,
        media: str = "text/turtle",
        *,
        namespace: str | None = None,
    ) -> Changed:
        """
        Add the triples of a document to a graph, by default to that of the namespace.

        Args:
            document: the triples
            graph: its IRI; default the graph of the namespace
            media: of the document, as for `put_graph`
            namespace: the namespace; default that of the caller

        Raises:
            InputError: the document is not well formed, or its media type is not supported.
            Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
        """

    def patch(
        self,
        sparql: str,
        graph: str | None = None,
        *,
        namespace: str | None = None,
    ) -> Changed:
        """
        Run a SPARQL update in one graph; it reads and writes only this graph.

        Args:
            sparql: the update; patterns and templates without a graph mean this one
            graph: its IRI; default the graph of the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: there is no such graph.
            WrongGraph: it would change another graph too.
            InputError, Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
        """

    def delete(
        self,
        graph: str,
        *,
        namespace: str | None = None,
    ) -> Changed:
        """
        Delete a graph with everything in it.

        Args:
            graph: its IRI; default the graph of the namespace
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: there is no such graph.
            Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
        """

    def infer(
        self,
        *,
        namespace: str | None = None,
    ) -> Inferred:
        """
        Infer again what follows from the graphs of the namespace, if they changed, and say how much that is.

        A query that reads inferred triples does the same first. They are a graph of their own.

        Args:
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: inference is switched off (`inference.on`).
        """

class IntakeMethods:
    """A descriptor: the methods of a group, bound to a memory."""

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
            source: `chatgpt`, `claude`, `claude-code`, `codex`, `gemini`, `mem0`, `server-memory`, `basic-memory` or `obsidian`;
                default by the content of each file.
            all_turns: for chats, also import what assistants said.
            options: the options of `import_notes`.

        Raises:
            InputError: as `import_notes`; or a file has no known format, or is broken; names the file and the place.
        """

    def import_notes(
        self,
        rows: Iterable[NoteRow | Mapping[str, Any]],
        consolidate: bool = True,
        dry_run: bool = False,
        origin: str = "import",
        part_of: str | None = None,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """
        Note many rows and embed them in batches; if a model understands notes, they are kept first and understood in the background.

        A row whose key was used before is skipped, so an import that was stopped continues where it was. `undo_import` takes out again
        what an import brought in.

        Args:
            rows: the notes, in order
            consolidate: false keeps each row as one memory of its own text, and retires nothing
            dry_run: true counts what is known and what would be redacted, and writes nothing
            origin: the program that the rows are from, in a word such as `chatgpt`
            part_of: the import that they continue, for rows sent in portions; default a new one
            namespace: the namespace; default that of the caller

        Raises:
            InputError: a row is empty or too long; the message names the row, counted from 1; nothing is stored.
            NotFound: `part_of` is no import of this namespace.
        """

    def imports(
        self,
        *,
        namespace: str | None = None,
    ) -> tuple[ImportShown, ...]:
        """
        List the imports of the namespace of which something is left, newest first.

        Args:
            namespace: the namespace; default that of the caller
        """

    def undo_import(
        self,
        iri: str,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> ImportUndone:
        """
        Take out again all that one import brought in: its notes and their memories are erased, and what they had ended holds again.

        The same can be imported again afterwards.

        Args:
            iri: the import, as `imports` lists it
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: this namespace has no such import.
        """

    def capture(
        self,
        session: str,
        turns: Sequence[CapturedTurn | Mapping[str, Any]],
        client: str = "client",
        event: str = "stop",
        *,
        namespace: str | None = None,
    ) -> Capturing:
        """
        Send what was said in a session; it is noted, proposed to the user, or skipped, as `capture` is set for the namespace.

        What is to be kept is queued in a journal and noted in the background. Read-only tool calls, answers shorter than 50 characters,
        what the user does not want kept and what was sent before are skipped; the answer counts them by reason.

        Args:
            session: the client's name for the session
            turns: what was said, in order
            client: the program that sends it, such as `claude-code`
            event: the event it sends it for: prompt, stop, compact, tool or proxy
            namespace: the namespace; default that of the caller

        Raises:
            BackendError: the journal cannot be written.
        """

    def proposals(
        self,
        limit: int = 100,
        offset: int = 0,
        *,
        namespace: str | None = None,
    ) -> tuple[Proposal, ...]:
        """
        List the captured texts of the namespace that wait for approval, oldest first.

        Args:
            limit: most rows
            offset: how many rows to skip
            namespace: the namespace; default that of the caller
        """

    def accept_proposals(
        self,
        proposals: Sequence[str] = (),
        every: bool = False,
        *,
        namespace: str | None = None,
    ) -> Decided:
        """
        Approve captured texts, which are then noted: some proposals, or all of the namespace.

        Args:
            proposals: ids of the proposals; default none
            every: all proposals of the namespace
            namespace: the namespace; default that of the caller

        Raises:
            BackendError: store, embedder or journal failed; what was not noted still waits.
        """

    def reject_proposals(
        self,
        proposals: Sequence[str] = (),
        every: bool = False,
        *,
        namespace: str | None = None,
    ) -> Decided:
        """
        Delete captured texts that wait for approval: some proposals, or all of the namespace; they are not proposed again.

        Args:
            proposals: ids of the proposals; default none
            every: all proposals of the namespace
            namespace: the namespace; default that of the caller
        """

    def write_ahead_log(
        self,
        *,
        namespace: str | None = None,
    ) -> tuple[LogEntry, ...]:
        """
        List the accepted writes of the namespace that are not done yet: notes that wait to be understood, and captured texts.

        Each is on disk; the next start replays it, and `retry` does so at once. An entry leaves the log with the write that completes
        it.

        Args:
            namespace: the namespace; default that of the caller
        """

    def import_rdf(
        self,
        file: Path | str,
        form: str | None = None,
        data: str | None = None,
        check: bool = True,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Merged:
        """
        Import a document: an export of this or another memory, as RDF, as rows or as a folder, or your own RDF; atomic, and idempotent.

        Args:
            file: the file to read, compressed or not; or the folder of an export as okf
            form: as for `export`; turtle, ntriples, rdfxml with `data`; default by the file's name
            data: the free graph for triples that are in no graph
            check: validate what is new against the shapes; only the owner may switch this off
            namespace: the namespace; default that of the caller

        Raises:
            InputError: not well formed, by line and column, nested too deep, or with a DOCTYPE; or a graph that cannot hold memories.
            Forbidden: a namespace that the caller has no access to, or shapes switched off by anybody but the owner.
            ShapeViolation: it would break a shape; the message names the statement and how to fix it.
            TooLong, TimedOut, Busy: reading it took more memory or time than a worker has, or all workers are busy.
        """

    def ingest(
        self,
        file: Path | str,
        dry_run: bool = False,
        force: bool = False,
        exclude: Sequence[str] = (),
        most: int | None = None,
        source: str | None = None,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Ingested:
        """
        Ingest a file, all files of a folder, or a page: Markdown, text, source, HTML, PDF, pictures, tables.

        A document is split into pieces, in order; each piece becomes a memory with its text unchanged. When you ingest it again, only
        what changed is read; what is no longer in the document, or in the folder, is retired. An ingest that was stopped continues
        where it was. Only programs on the service's own machine may name a path or an address.

        Args:
            file: the absolute path of a file or a folder, or the address of a page
            dry_run: read and count, and write nothing
            force: also read again what has not changed
            exclude: names to skip in a folder, such as `*.log` or `docs/old/*`
            most: most documents to read now; the answer says how many are left
            source: how it came in, as a short word such as `import`; default explicit
            namespace: the namespace; default that of the caller

        Raises:
            InputError: there is no such path, the file cannot be read, or the page cannot be fetched; the message says why.
            Forbidden: the caller is not the owner on the machine of the memory.
        """

    def index_project(
        self,
        folder: Path | str,
        force: bool = False,
        *,
        namespace: str | None = None,
    ) -> Ingested:
        """
        Ingest a project's description of itself: README, manifests and settings, 5,000 characters each, and a tree of two levels.

        A project that is known already is left as it is, unless `force` is true.

        Args:
            folder: the absolute path of the project
            force: read it again
            namespace: the namespace; default that of the caller

        Raises:
            InputError: the path is no folder.
            Forbidden: the caller is not the owner on the machine of the memory.
        """

    def memory_file(
        self,
        command: Literal["view", "create", "str_replace", "insert", "delete", "rename"],
        path: str | None = None,
        view_range: Sequence[int] | None = None,
        file_text: str | None = None,
        old_str: str | None = None,
        new_str: str | None = None,
        insert_line: int | None = None,
        insert_text: str | None = None,
        old_path: str | None = None,
        new_path: str | None = None,
        *,
        namespace: str | None = None,
    ) -> FileAnswer:
        """
        Run a command of Claude's memory tool on the files below `/memories`.

        The content of a file is remembered: each paragraph and each list item is a memory with its text unchanged. Recall finds it, and
        an edit retires what it removes. Answers and errors have the wording published for the tool; `failed` tells them apart.

        Args:
            command: what to do
            path: the file or the folder, such as `/memories/notes.txt`
            view_range: view: the first and the last line to show, from 1; -1 is the end
            file_text: create: the text of the new file
            old_str: str_replace: the text to replace, which must be in the file exactly once
            new_str: str_replace: the new text; default nothing
            insert_line: insert: the line to insert after; 0 is the beginning
            insert_text: insert: the lines to insert
            old_path: rename: the current path
            new_path: rename: the new path
            namespace: the namespace; default that of the caller

        Raises:
            InputError: an argument that the command needs is missing.
            TooLong: the text of the file is over `limits.text_bytes`.
        """

    def adopt(
        self,
        projects: Iterable[Path | str] = (),
        user_home: Path | str | None = None,
        agents: Sequence[str] = (),
        sessions: bool = True,
        apply: bool = False,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Adopted:
        """
        Find what Claude Code, Codex, Gemini, Cursor, Windsurf, Cline and Copilot have written on this machine; with `apply`, note it.

        Rules and memory files are kept word for word, a paragraph or list item each; of sessions, the user's own turns are noted. What
        is already remembered is skipped. Only the named folders are read, and no link that leads out of them. `undo_import` takes out
        again what was brought in.

        Args:
            projects: the folders of projects to look in, by absolute path
            user_home: the home folder in which agents keep their own; default that of the service's user
            agents: only these: claude-code, codex, gemini, cursor, windsurf, cline, copilot; default all
            sessions: false leaves the sessions out
            apply: true notes what was found; else nothing is written
            namespace: the namespace; default that of the caller

        Raises:
            InputError: a folder is missing, or an agent is unknown; names it.
            Forbidden: the caller is not the owner on the machine of the memory.
        """

class KeysMethods:
    """A descriptor: the methods of a group, bound to a memory."""

    def find(
        self,
        query: str,
        k: int = 8,
        *,
        namespace: str | None = None,
    ) -> FoundKeys:
        """
        Find the keys that a question leads to, best first, without the text of any memory; nothing is written.

        Args:
            query: a short phrase or a question
            k: most keys
            namespace: the namespace; default that of the caller

        Raises:
            InputError: empty query, or k out of range.
            TooLong: query over `limits.text_bytes`.
        """

    def read(
        self,
        iri: str,
        query: str | None = None,
        limit: int = 10,
        offset: int = 0,
        *,
        namespace: str | None = None,
    ) -> KeyPage:
        """
        List the memories of a key, best first, without their text; nothing is written.

        Args:
            iri: a key as `find_keys` gives it, or an entity
            query: also rank by similarity to this
            limit: most memories
            offset: how many rows to skip
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such key here.
            InputError: limit or offset out of range.
        """

    def read_memory(
        self,
        iri: str,
        via: str | None = None,
        past: bool = False,
        *,
        namespace: str | None = None,
    ) -> OpenedMemory:
        """
        Read a memory in full, with the keys that lead on from it; its depth increases, and so does the weight of the link that led
        here.

        If the caller may not write, or the memory is read-only, nothing is changed by the read.

        Args:
            iri: the memory
            via: the key that led here: its link is strengthened
            past: also read what was superseded, has ended or is forgotten; that changes nothing
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such memory here.
            InputError: it was superseded (the message says by which memory), or the key does not lead to it.
        """

    def related(
        self,
        iri: str,
        *,
        namespace: str | None = None,
    ) -> Related:
        """
        Find the memories that share keys with one, or are linked to it; rare keys count most.

        Args:
            iri: the memory
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such memory here.
        """

    def recall_memories(
        self,
        query: str,
        k: int = 5,
        hops: int = 2,
        expand: bool = False,
        least_share: float = 0.0,
        least_depth: float = 0.0,
        min_score: float | None = None,
        gate_z: float | None = None,
        key_gate: float | None = None,
        *,
        namespace: str | None = None,
    ) -> DirectRecall:
        """
        Find the memories for a question in one call, by words, meaning and hops over keys; their depth and their links are
        strengthened.

        Args:
            query: what to find
            k: most memories; twice as many with `expand`
            hops: how far to go over keys; 1: no further than the first memories
            expand: search farther; what only hops found counts less
            least_share: share of the best score below which a memory is left out
            least_depth: depth below which a memory is left out
            min_score: the setting of that name, for this question
            gate_z: the setting of that name, for this question
            key_gate: the setting of that name, for this question
            namespace: the namespace; default that of the caller

        Raises:
            Forbidden: the setting `keys.direct` is off.
            InputError: empty query, or a number out of range.
        """

    def remember(
        self,
        content: str,
        keys: Sequence[str] | None = None,
        types: Mapping[str, Literal["concept", "name", "proper_noun"]] | None = None,
        ttl_s: float | None = None,
        related_to: Sequence[str] = (),
        session: str | None = None,
        source: str = "explicit",
        type: str | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
        container: str | None = None,
        piece: TextPiece | None = None,
        *,
        namespace: str | None = None,
    ) -> Remembered:
        """
        Store a text under some keys, in one atomic write and without a model.

        Args:
            content: what to remember
            keys: names and short phrases that lead to it; default the names and nouns of the text
            types: which keys are names, found by their spelling alone; the others are concepts
            ttl_s: seconds after which it is forgotten
            related_to: memories to link it to; those that do not exist are skipped
            session: the conversation that it belongs to
            source: how it came in, as a short word
            type: what kind of memory it is, in a word
            importance: how important it is
            tags: words to find it by, as labels
            container: the container that it is put into
            piece: its place in a long text, of which it is a piece
            namespace: the namespace; default that of the caller

        Raises:
            InputError: empty content or source, or no usable key.
            TooLong: content over the limit.
        """

    def remember_batch(
        self,
        items: Sequence[ToRemember | Mapping[str, Any]],
        *,
        namespace: str | None = None,
    ) -> tuple[BatchRow, ...]:
        """
        Remember several texts one after the other; a text that fails reports why, and the others are still remembered.

        Args:
            items: texts with their keys, 100 at most
            namespace: the namespace; default that of the caller

        Raises:
            InputError: too many items.
        """

    def conversation(
        self,
        session: str,
        turn: int | None = None,
        *,
        namespace: str | None = None,
    ) -> tuple[TurnRow, ...]:
        """
        List what was said in a session, in order, or the five turns around one; an unknown session gives an empty list.

        Args:
            session: the conversation
            turn: the turns around this one, counted from 0
            namespace: the namespace; default that of the caller
        """

    def list_memories(
        self,
        limit: int = 50,
        offset: int = 0,
        *,
        namespace: str | None = None,
        tags: Sequence[str] = (),
        container: str | None = None,
        source: str | None = None,
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        entity: str | None = None,
    ) -> tuple[MemoryRow, ...]:
        """
        List the current memories, newest first, with their keys, depth and links.

        Args:
            limit: most rows
            offset: how many rows to skip
            namespace: the namespace; default that of the caller
            tags: only memories with one of these tags
            container: only memories in this container
            source: only memories from this source, such as `explicit`, `import` or `hook:stop`
            after: only memories that became true then or later
            before: only memories that became true before then
            entity: only memories about this entity: its name, its IRI, or `me`

        Raises:
            InputError: limit or offset out of range.
            NotFound: nothing goes by the name of `entity`.
        """

    def cleanup_expired(
        self,
        *,
        namespace: str | None = None,
    ) -> Cleaned:
        """
        Forget the memories whose time to live is over, and learned phrases that nobody used; history keeps the memories.

        Args:
            namespace: the namespace; default that of the caller
        """

    def memory_stats(
        self,
        alone: bool = False,
        *,
        namespace: str | None = None,
    ) -> MemoryStats:
        """
        Count keys, links, memories, notes and sessions over what the namespace reads.

        Args:
            alone: true: only the namespace itself, without `main` and `__global__`
            namespace: the namespace; default that of the caller
        """

class LivingMethods:
    """A descriptor: the methods of a group, bound to a memory."""

    def strength(
        self,
        iri: str,
        *,
        namespace: str | None = None,
    ) -> Strength:
        """
        Show the importance, depth, energy and usefulness of a memory now.

        Args:
            iri: the memory
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such memory here.
        """

    def feedback(
        self,
        iri: str,
        helped: bool,
        *,
        namespace: str | None = None,
    ) -> Strength:
        """
        Report that a memory helped or misled; return its updated numbers.

        Args:
            iri: the memory
            helped: true: it helped; false: it misled
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: the namespace has no such memory.
        """

    def associate(
        self,
        source: str,
        target: str,
        relation: str = "similar",
        weight: float = 0.5,
        *,
        namespace: str | None = None,
    ) -> Association:
        """
        Create an association from one memory to another, or strengthen an existing one.

        Args:
            source: the memory that it starts from; must be in the namespace itself
            target: the memory that it leads to
            relation: the kind of link, in one or a few words
            weight: its strength; an existing link grows by a tenth of it
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: one of them is no current memory.
            InputError: both are the same memory, or the weight is out of range.
        """

    def trace(
        self,
        iri: str,
        depth: int = 2,
        *,
        namespace: str | None = None,
    ) -> tuple[Followed, ...]:
        """
        List the paths of associations that start from a memory, depth first.

        Args:
            iri: the memory to start from
            depth: most links of a path
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such memory here.
        """

    def activate(
        self,
        seeds: Sequence[str],
        steps: int = 3,
        decay: float = 0.85,
        threshold: float = 0.1,
        *,
        namespace: str | None = None,
    ) -> tuple[Activated, ...]:
        """
        Spread activation from some memories over associations and shared names; return the twenty most active memories.

        Args:
            seeds: the memories to start from
            steps: how often activation is passed on
            decay: share that arrives over a link
            threshold: activation above which it is passed on
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: a seed is no current memory.
            InputError: no seed, or a number out of range.
        """

    def decay(
        self,
        half_life_days: float | None = None,
        *,
        namespace: str | None = None,
    ) -> Fading:
        """
        Decay the energies of the namespace up to now, from each memory's last use; calling it again at once changes nothing.

        Args:
            half_life_days: days in which energies halve; default the setting `living.half_life`
            namespace: the namespace; default that of the caller

        Raises:
            InputError: a half-life that is not above 0.
        """

    def archive(
        self,
        dry_run: bool = False,
        *,
        namespace: str | None = None,
    ) -> Archived:
        """
        Hide from recall the memories that have no energy left and are hardly used; `unarchive` brings one back.

        Args:
            dry_run: only list them; this also works on a read-only memory
            namespace: the namespace; default that of the caller
        """

    def list_fading(
        self,
        limit: int = 50,
        offset: int = 0,
        *,
        namespace: str | None = None,
    ) -> tuple[FadingMemory, ...]:
        """
        List the memories that will be archived if nobody uses them, the next one first, with their energy now and the day.

        Give a memory an importance of .7 or more (`mark`), and it is never archived.

        Args:
            limit: most rows
            offset: how many rows to skip
            namespace: the namespace; default that of the caller

        Raises:
            InputError: limit or offset out of range.
        """

    def list_archived(
        self,
        limit: int = 50,
        offset: int = 0,
        *,
        namespace: str | None = None,
    ) -> tuple[Listed, ...]:
        """
        List the archived memories of the namespace, the latest written first.

        Args:
            limit: most rows
            offset: how many rows to skip
            namespace: the namespace; default that of the caller

        Raises:
            InputError: limit or offset out of range.
        """

    def unarchive(
        self,
        iri: str,
        *,
        namespace: str | None = None,
    ) -> Strength:
        """
        Bring an archived memory back, with its initial energy.

        Args:
            iri: the memory
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such memory here.
        """

    def evaluate(
        self,
        expression: str,
        *,
        namespace: str | None = None,
    ) -> Evaluated:
        """
        Evaluate one or several s-expressions, such as `(recall "tea")`; see docs/sexpr.md for the verbs.

        All of them are checked before the first runs. Expressions that change the memory require the right to write, others that to
        read.

        Args:
            expression: one or several expressions
            namespace: the namespace; default that of the caller

        Raises:
            InputError: no expression, an unknown verb, wrong values, or too many calls; with line, column and the verb's signature.
                Errors of a verb keep their class, and their message has the place.
            TooLong: more than `sexpr.chars` characters.
            Forbidden: it would change the memory, and the caller may not.
        """

    def recall_items(
        self,
        query: str,
        limit: int = 10,
        *,
        namespace: str | None = None,
    ) -> tuple[Item, ...]:
        """
        Find the memories whose text or tags contain the query, and those tied to them, by activation, recency and importance.

        The memories that are found count as used.

        Args:
            query: what to find
            limit: most memories
            namespace: the namespace; default that of the caller

        Raises:
            InputError: empty query, or limit out of range.
        """

    def get_item(
        self,
        iri: str,
        *,
        namespace: str | None = None,
    ) -> Item:
        """
        Show one memory with its type, tags and dates.

        Args:
            iri: the memory
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such memory here.
        """

    def policies(
        self,
        *,
        namespace: str | None = None,
    ) -> dict[str, str]:
        """
        List the policies by name; a policy is an expression that is stored to be run again.

        Args:
            namespace: the namespace; default that of the caller
        """

    def set_policy(
        self,
        name: str,
        expression: str,
        *,
        namespace: str | None = None,
    ) -> str:
        """
        Store an expression under a name, to be run again.

        Args:
            name: its name
            expression: one expression
            namespace: the namespace; default that of the caller

        Raises:
            InputError: no expression, or no name.
        """

class ReviewMethods:
    """A descriptor: the methods of a group, bound to a memory."""

    def note_status(
        self,
        iri: str,
        *,
        namespace: str | None = None,
    ) -> NoteStatus:
        """
        Say how far a note has come: pending, consolidated, skipped or failed, and why.

        Args:
            iri: the note
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such note in this namespace.
        """

    def list_waiting(
        self,
        *,
        namespace: str | None = None,
    ) -> tuple[NoteStatus, ...]:
        """
        List the notes of the namespace that wait to be understood or have failed, oldest first, with their text.

        Args:
            namespace: the namespace; default that of the caller
        """

    def retry(
        self,
        *,
        namespace: str | None = None,
    ) -> tuple[NoteStatus, ...]:
        """
        Retry every note now that waits to be understood, in every namespace that the caller may write to; return the status of each.

        A note that fails again waits for its next retry as usual.

        Args:
            namespace: the namespace; default that of the caller
        """

    def mark(
        self,
        iri: str,
        tags: Sequence[str] = (),
        untag: Sequence[str] = (),
        container: str | None = None,
        importance: float | None = None,
        *,
        namespace: str | None = None,
    ) -> tuple[Marked, ...]:
        """
        Change the tags, the container or the importance of a memory, or of all memories of a note.

        Args:
            iri: a memory or a note
            tags: tags to add
            untag: tags to remove
            container: the container it moves to; empty: none
            importance: how important it is from now on
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no memory or note with that IRI in this namespace.
            InputError: nothing to change.
        """

    def disputes(
        self,
        limit: int = 100,
        *,
        namespace: str | None = None,
    ) -> tuple[Dispute, ...]:
        """
        List memories of this namespace that cannot, or likely cannot, both be true: contradictions first, then likely rivals.

        Args:
            limit: most of them
            namespace: the namespace; default that of the caller
        """

    def settle(
        self,
        kept: str,
        ended: str,
        reason: str = "",
        *,
        namespace: str | None = None,
    ) -> Settled:
        """
        Settle a dispute: one memory stays, the other ends when that one began.

        `undo` reverts it.

        Args:
            kept: the memory that is right
            ended: the memory that ends
            reason: why, in your words; default the text of the memory that is right
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: the namespace has no such memory.
            InputError: both are the same memory, or the other has ended already.
        """

    def forget_tagged(
        self,
        tags: Sequence[str],
        erase: bool = False,
        *,
        namespace: str | None = None,
    ) -> Forgotten:
        """
        Hide every memory of the namespace that has one of the given tags, from every recall from now on; history keeps them.

        Args:
            tags: the tags; a memory must have one of them
            erase: also delete their content, and the notes from which nothing else derives
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no current memory has such a tag.
            InputError: no tag.
        """

    def unforget(
        self,
        iri: str,
        *,
        namespace: str | None = None,
    ) -> Unforgotten:
        """
        Bring a forgotten memory or claim back, or all forgotten memories of a note; what was erased cannot be brought back.

        A note that was forgotten before it was understood waits to be understood again.

        Args:
            iri: a memory, a claim or a note
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no memory, claim or note with that IRI in this namespace, or nothing of it is forgotten.
        """

    def sources(
        self,
        iri: str,
        *,
        namespace: str | None = None,
    ) -> tuple[Source, ...]:
        """
        Show who said a memory, or each memory of a note, and what derived it from the note.

        Args:
            iri: a memory or a note
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such memory or note in this namespace.
        """

    def tags(
        self,
        alone: bool = False,
        *,
        namespace: str | None = None,
    ) -> tuple[TagCount, ...]:
        """
        List the tags of the current memories of the namespace, the most used first.

        Args:
            alone: true: only the namespace itself, without `main` and `__global__`
            namespace: the namespace; default that of the caller
        """

class SessionsMethods:
    """A descriptor: the methods of a group, bound to a memory."""

    def start(
        self,
        query: str | None = None,
        limit: int = 15,
        folder: str | None = None,
        *,
        namespace: str | None = None,
    ) -> SessionBundle:
        """
        Return what a session should start with: the profile in a line, and memories grouped as decisions, architecture, errors and
        others.

        With a query, these are the memories that recall finds; without one, the most important ones, discounted for age. A project's
        folder is ingested first if it is not known yet.

        Args:
            query: what the session is about; default the most important memories
            limit: most memories, over all groups
            folder: the absolute path of the project, which is ingested if it is not known yet
            namespace: the namespace; default that of the caller

        Raises:
            InputError: limit out of range, or there is no such folder.
            Forbidden: a folder, and the caller is not the owner on the machine of the memory.
        """

    def summarize(
        self,
        session: str | None = None,
        by_model: bool = True,
        *,
        namespace: str | None = None,
    ) -> SessionSummary:
        """
        Keep a summary of a session as a memory, derived from the session's memories; 2,000 characters at most.

        A model words the summary if one is set; otherwise it consists of the beginnings of the memories, in order. An earlier summary
        of the session ends then.

        Args:
            session: the conversation; default the latest
            by_model: let the model of the settings word it, if one is set
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: there is no session of that name, no session at all, or none with a memory.
        """

    def profile(
        self,
        regenerate: bool = False,
        *,
        namespace: str | None = None,
    ) -> Profile:
        """
        Show what a namespace is mostly about: tags, entities, files, languages and packages by the number of memories that have them.

        The profile is counted once for each state of the memory. `regenerate` counts again, and also stores it in the graph if the
        caller may write.

        Args:
            regenerate: count again, even if nothing was written
            namespace: the namespace; default that of the caller
        """

    def ask(
        self,
        question: str,
        limit: int = 10,
        answer: bool = True,
        *,
        namespace: str | None = None,
    ) -> Replied:
        """
        Recall what is relevant to a question, and let the model of the settings, if one is set, answer from that alone.

        Args:
            question: what to answer
            limit: most memories
            answer: false: return only the memories and ask no model
            namespace: the namespace; default that of the caller

        Raises:
            InputError: empty question, or limit out of range.
            TooLong: question over `limits.text_bytes`.
        """

class Everyday:
    """The methods that a memory itself has, and its groups of methods."""

    @property
    def admin(self) -> AdminMethods:
        """A descriptor: the methods of a group, bound to a memory."""

    @property
    def cases(self) -> CasesMethods:
        """A descriptor: the methods of a group, bound to a memory."""

    @property
    def graphs(self) -> GraphsMethods:
        """A descriptor: the methods of a group, bound to a memory."""

    @property
    def intake(self) -> IntakeMethods:
        """A descriptor: the methods of a group, bound to a memory."""

    @property
    def keys(self) -> KeysMethods:
        """A descriptor: the methods of a group, bound to a memory."""

    @property
    def living(self) -> LivingMethods:
        """A descriptor: the methods of a group, bound to a memory."""

    @property
    def review(self) -> ReviewMethods:
        """A descriptor: the methods of a group, bound to a memory."""

    @property
    def sessions(self) -> SessionsMethods:
        """A descriptor: the methods of a group, bound to a memory."""

    def note(
        self,
        content: str,
        at: datetime | str | None = None,
        title: str | None = None,
        speaker: str | None = None,
        session: str | None = None,
        position: int | None = None,
        idempotency_key: str | None = None,
        wait: bool = True,
        tags: Sequence[str] = (),
        container: str | None = None,
        priority: Literal["low", "normal", "high"] = "high",
        source: str = "explicit",
        dry_run: bool = False,
        ttl_s: float | None = None,
        *,
        namespace: str | None = None,
    ) -> Noted:
        """
        Remember a first-person note: extract its facts, skip what is known, retire what it replaces.

        The whole note is one atomic write; a note over `consolidation.chunk_over` words is split into pieces, each one write. If a
        model understands notes, the note is first kept as pending. When the model fails, the answer is a pending note, which is
        retried in the background. Rules answer at once; what they cannot read is kept word for word, and
        the answer says so.

        Args:
            content: what to remember, in the user's own words
            at: when it was said; default now; a time without an offset is in the user's time zone
            title: what it is about, if it has a title outside its text
            speaker: who said it, if not the user
            session: the conversation it belongs to
            position: its place in that conversation, counted from 0
            idempotency_key: retries with the same key make only one note
            wait: false: answer as soon as the note is kept, before it is understood
            tags: words that sort it, as labels; rules may add their own
            container: the container that its memories are put into: a filter, not an access boundary
            priority: how important the writer thinks it is: one part of its importance
            source: how it came in, as a short word
            dry_run: only say what would be made of it, in `readings`; nothing is written, and the answer's IRIs are not kept
            ttl_s: for how many seconds its memories are remembered; default forever
            namespace: the namespace; default that of the caller

        Raises:
            InputError: empty content.
            TooLong: content over `limits.text_bytes`.
            Conflict: the key was used for a note with other content.
            BackendError: store or embedder failed; nothing was written.
        """

    def correct(
        self,
        iri: str,
        content: str,
        at: datetime | str | None = None,
        keys: Sequence[str] | None = None,
        types: Mapping[str, Literal["concept", "name", "proper_noun"]] | None = None,
        related_to: Sequence[str] | None = None,
        *,
        namespace: str | None = None,
    ) -> Noted:
        """
        Replace a memory, or one claim of it, by a better text; the old one is retired as never having been true.

        The old memory loses most of its depth; a deep one keeps most of it. The new memory takes over the links, tags, container,
        importance and time to live of the old one, and those of its keys that fit.

        Args:
            iri: the memory, or a claim of it
            content: what is right, in the first or the third person
            at: since when that is true; default since the old memory was
            keys: the keys of the new text; default those of the old one
            types: which keys are names, found by their spelling alone; the others are concepts
            related_to: the memories it is linked to; default as before
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no such memory or claim in this namespace, or it is forgotten.
            InputError: the content is empty or the same, or states nothing in place of the claim.
            TooLong: content over the limit.
        """

    def undo(
        self,
        iri: str,
        *,
        namespace: str | None = None,
    ) -> Undone:
        """
        Undo an invalidation: the memory or the claim that it retired is current again.

        The memory that had replaced it stays; `forget` it if it is wrong.

        Args:
            iri: the invalidation, or the retired memory or claim: its latest one is undone
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: this namespace has no such invalidation, and no retired memory or claim with that IRI.
        """

    def forget(
        self,
        iri: str,
        restore: bool = False,
        erase: bool = False,
        confirm: bool = False,
        *,
        namespace: str | None = None,
    ) -> Forgotten:
        """
        Hide a memory, all memories of a note, or all that a model made, from every recall from now on; history keeps them.

        A claim alone is believed no more, and its memory keeps every word. A note that is still pending will not be understood.
        `unforget` brings back what was hidden.

        Args:
            iri: a memory, a claim, a note, or an agent as `sources` names it
            restore: also take back what it had ended: all of that holds again, as if it had never been said
            erase: also delete its content, and the note when nothing else derives from it
            confirm: required if the IRI is an agent, since everything it made is hidden
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: no memory, claim, note or agent with that IRI in this namespace.
            InputError: an agent without `confirm`, or a claim to be erased: erase its memory.
        """

    def recall(
        self,
        question: str,
        k: int | None = None,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        profile: str | None = None,
        engine: str | None = None,
        mode: str | None = None,
        gate: bool | None = None,
        budget: int | None = None,
        counts: bool | None = None,
        everywhere: bool = False,
        cases: int = 0,
        related: int = 0,
        explain: bool = False,
        *,
        namespace: str | None = None,
        tags: Sequence[str] = (),
        container: str | None = None,
        source: str | None = None,
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        entity: str | None = None,
    ) -> Recollection:
        """
        Find the memories that answer a question, best first, with when they were true, where they came from and what they replaced.

        Args:
            question: what to answer
            k: most memories; default `distill.top_k`
            as_of: what was true at this time, instead of now
            believed_at: what Memento believed at this time, instead of now
            profile: retrieval settings by name
            engine: how to rank; default the engine of the profile, else the setting `land.engine`
            mode: rank by one plain search instead of an engine: by meaning, by words, or 70/30 by both; returns the best k, relevant or not, unless `gate` is true
            gate: true: only relevant memories, each fact once; false: the best k; default the setting `gate.on`
            budget: most tokens of the memories and of the text around them in their notes, best first; default no limit
            counts: count the returned memories as used, if the caller may write; default `living.count_recall`
            everywhere: search every namespace that the caller may read, not only this one and `main`
            cases: also return up to this many cases to follow, and to avoid, whose tasks are similar to the question
            related: also return up to this many memories that are linked to those found, relevant to the question or not
            explain: say why each memory was returned, and which SPARQL query returns the same; 300 memories at most
            namespace: the namespace; default that of the caller
            tags: only memories with one of these tags
            container: only memories in this container
            source: only memories from this source, such as `explicit`, `import` or `hook:stop`
            after: only memories that became true then or later
            before: only memories that became true before then
            entity: only memories about this entity: its name, its IRI, or `me`

        Raises:
            InputError: empty question, k or budget out of range, unknown profile, engine or mode, or a mode and an engine.
            NotFound: nothing goes by the name of `entity`.
            TooLong: question over `limits.text_bytes`.
        """

    def get(
        self,
        iri: str,
        explain: bool = False,
        *,
        namespace: str | None = None,
    ) -> Described:
        """
        Show everything that the graph says about a note, memory, entity, session, invalidation or the user.

        Args:
            iri: what to show
            explain: of a memory or a note: also say which claims it might have ended, and why it did not
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: nothing in this namespace has that IRI.
        """

    def list(
        self,
        limit: int = 50,
        offset: int = 0,
        past: bool = False,
        alone: bool = False,
        *,
        namespace: str | None = None,
        tags: Sequence[str] = (),
        container: str | None = None,
        source: str | None = None,
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        entity: str | None = None,
    ) -> tuple[Listed, ...]:
        """
        List the memories of the namespace, newest first.

        Args:
            limit: most rows
            offset: how many rows to skip
            past: also memories that have ended or are forgotten
            alone: true: only the namespace itself, without `main` and `__global__`
            namespace: the namespace; default that of the caller
            tags: only memories with one of these tags
            container: only memories in this container
            source: only memories from this source, such as `explicit`, `import` or `hook:stop`
            after: only memories that became true then or later
            before: only memories that became true before then
            entity: only memories about this entity: its name, its IRI, or `me`

        Raises:
            InputError: limit or offset out of range.
            NotFound: nothing goes by the name of `entity`.
        """

    def timeline(
        self,
        subject: str,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        limit: int = 50,
        *,
        namespace: str | None = None,
    ) -> Timeline:
        """
        Show the history of an entity, the user, a memory or a note: its memories in the order they became true, with what ended them.

        The history of a memory is what it replaced and what replaced it.

        Args:
            subject: the name of an entity, an IRI, or `me`
            as_of: what was true at this time, instead of now
            believed_at: what Memento believed at this time, instead of now
            limit: most rows
            namespace: the namespace; default that of the caller

        Raises:
            NotFound: nothing goes by that name or IRI.
            InputError: empty subject, or limit out of range.
        """

    def export(
        self,
        file: Path | str,
        form: str | None = None,
        vectors: bool = False,
        audit: bool = False,
        past: bool = False,
        anonymise: bool = False,
        dates: Literal["keep", "month", "year"] = "keep",
        pseudonym_key_file: Path | str | None = None,
        overwrite: bool = False,
        *,
        namespace: str | None = None,
        tags: Sequence[str] = (),
        container: str | None = None,
        source: str | None = None,
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        entity: str | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        """
        Write all graphs of the tenant that the caller can see into a file; with a namespace, only that one and what it needs of others.

        RDF is complete: `import_rdf` creates the same statements from it. Rows (jsonl, json, csv, markdown) contain what can be
        recalled: memories, their times, what they are about, and their notes; `import_rdf` creates the same memories from them. With a
        filter, RDF contains the selected memories with their notes, what ended them, and what they are about. `okf` writes a folder in
        the Open Knowledge Format: a Markdown file for each entity, with the memories that hold and their statements.

        Args:
            file: where to write; `.gz` compresses it; for okf a folder
            form: trig, nquads, jsonld, turtle; rows: jsonl, json, csv, markdown; a folder: okf; default by the name
            vectors: include the vectors, for an import with the same embedder
            audit: include the audit log of the store, for reading; requires admin
            past: rows: also memories that have ended or are forgotten
            anonymise: rows, with those of cases: replace names, addresses and IRIs by pseudonyms
            dates: how much an anonymised export keeps of dates in figures
            pseudonym_key_file: a file with a key, which makes the pseudonyms the same each time; default a key that is not kept
            overwrite: replace the file if it exists, once the new one is complete
            namespace: the namespace; default that of the caller
            tags: only memories with one of these tags
            container: only memories in this container
            source: only memories from this source, such as `explicit`, `import` or `hook:stop`
            after: only memories that became true then or later
            before: only memories that became true before then
            entity: only memories about this entity: its name, its IRI, or `me`

        Raises:
            InputError: an unknown format, or the file cannot be written, or exists and `overwrite` is not set.
            NotFound: nothing goes by the name of `entity`.
            NotAcceptable: a format without named graphs, rows with vectors or an audit, or RDF that should be anonymised.
        """

    def status(
        self,
        *,
        namespace: str | None = None,
    ) -> Status:
        """
        Show what the namespace contains and the state of the service.

        Args:
            namespace: the namespace; default that of the caller
        """
