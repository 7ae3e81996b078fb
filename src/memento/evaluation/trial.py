"""
An evaluation set in a temporary memory, asked once or several times.

*Flow:* `sets.read_set` → `Trial` imports the corpus, a namespace for each scope → `Trial.ask_all` recalls every question →
`report`.

*But:* it drives the public methods alone, so that the figures are those of the product. Each row is kept as one memory unless
`consolidate` is asked for; a document with several memories counts once, at its best rank.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from memento import settings
from memento.evaluation import sets
from memento.evaluation.report import AnsweredQuestion, Report
from memento.evaluation.sets import EvaluationSet, Question
from memento.iris import IRI
from memento.model import Recollection
from memento.ports import Progress
from memento.python import Memento, open_memento
from memento.settings import Settings

K = 10
"""Memories that every question asks for; the metrics look at the first 5 and the first 10."""

DEFAULT = "default"
"""The settings as they are, where the name of a profile is wanted."""

Stage = Callable[[str, int, int], None]
"""Called with (what goes on, done, in all)."""


class Trial:
    """A set imported into a temporary memory, ready to be asked with any profile. Made by `prepare_trial`."""

    def __init__(self, data: EvaluationSet, home: Path, configured: Settings | None, progress: Stage) -> None:
        self.data = data
        self.import_s = 0.0
        self.memories = 0
        self.gate = False  # an answer held back is no measure of ranking
        self._progress = progress
        opened = open_memento(home, namespace="main", configured=configured, command="memento eval")
        assert isinstance(opened, Memento)  # nobody else serves a folder that was made a moment ago
        self._memento = opened
        self._document: dict[IRI, str] = {}  # note → the document it was imported from

    def import_documents(self, consolidate: bool) -> None:
        """Note the corpus, scope by scope, and load what the first question would otherwise wait for; once in a folder."""
        kept = self._memento.datadir.path / "documents.json"
        if kept.exists():
            self._document, self.memories = json.loads(kept.read_text(encoding="utf-8"))
            self._memento.warm_up()
            return
        begin, done, total = time.perf_counter(), 0, len(self.data.documents)
        self._progress("import", 0, total)
        for scope in self.data.scopes:
            documents = [document for document in self.data.documents if document.scope == scope]
            imported = self._memento.import_notes(
                [document.row for document in documents],
                consolidate=consolidate,
                namespace=_namespace(scope),
                progress=self._count_from(done, total),
            )
            self._document |= {note: d.id for note, d in zip(imported.notes, documents, strict=True) if note}
            self.memories += imported.memories
            done += len(documents)
        self._memento.warm_up()
        self.import_s = time.perf_counter() - begin
        kept.write_text(json.dumps((self._document, self.memories)), encoding="utf-8")

    def ask_all(self, profile: str | None = None, *, configured: Settings | None = None) -> Report:
        """
        Ask every question once, in its scope.

        Args:
            profile: retrieval settings by name, laid over the others; None or `default` for nothing.
            configured: ask with these settings in place of those that the memory was opened with.
        """
        answers, opened_with = [], self._memento.settings
        self._memento.service.settings = configured or opened_with
        try:
            for done, question in enumerate(self.data.questions):
                self._progress("questions", done, len(self.data.questions))
                answers.append(self._ask(question, _profile_of(profile)))
        finally:
            self._memento.service.settings = opened_with
        self._progress("questions", len(answers), len(answers))
        return Report(
            dataset=self.data.name,
            profile=profile,
            documents=len(self.data.documents),
            memories=self.memories,
            import_s=self.import_s,
            skipped=self.data.skipped,
            answers=tuple(answers),
        )

    def explain(
        self, question: Question, k: int, *, configured: Settings | None = None
    ) -> tuple[list[str | None], list[Mapping[str, float]]]:
        """
        Return the `k` best memories for a question by the documents they come from, and what each signal gives to each.

        Args:
            configured: as for `ask_all`.
        """
        opened_with = self._memento.settings
        self._memento.service.settings = configured or opened_with
        try:
            found = self._memento.recall(
                question.text, k=k, gate=False, explain=True, namespace=_namespace(question.scope)
            ).memories
        finally:
            self._memento.service.settings = opened_with
        return [self._document.get(one.note.iri) if one.note else None for one in found], [one.why for one in found]

    def close(self) -> None:
        """Let go of the temporary memory."""
        self._memento.close()

    def _count_from(self, before: int, total: int) -> Progress:
        return lambda done, _: self._progress("import", before + done, total)

    def _ask(self, question: Question, profile: str | None) -> AnsweredQuestion:
        namespace = _namespace(question.scope)
        begin = time.perf_counter()
        recollection = self._memento.recall(question.text, k=K, profile=profile, gate=self.gate, namespace=namespace)
        latency_ms = (time.perf_counter() - begin) * 1000
        return AnsweredQuestion(
            question=question,
            ranked=self._rank_documents(recollection),
            latency_ms=latency_ms,
            phases_ms=recollection.timings_ms,
        )

    def _rank_documents(self, recollection: Recollection) -> tuple[str, ...]:
        notes = [memory.note.iri for memory in recollection.memories if memory.note]
        return tuple(dict.fromkeys(self._document[note] for note in notes))


@contextmanager
def prepare_trial(
    data: EvaluationSet,
    *,
    consolidate: bool = False,
    configured: Settings | None = None,
    progress: Stage | None = None,
    keep: Path | None = None,
) -> Iterator[Trial]:
    """
    Import a set into a temporary memory, which is gone afterwards; several profiles may be asked of one import.

    Args:
        keep: a folder where the memory stays, and is found by the next trial of a set of this name.
    """
    with tempfile.TemporaryDirectory(prefix="memento-eval-") as temporary:
        home = keep / (f"{data.name}-consolidated" if consolidate else data.name) if keep else Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        trial = Trial(data, home, configured, progress or (lambda stage, done, total: None))
        try:
            trial.import_documents(consolidate)
            yield trial
        finally:
            trial.close()


def evaluate(
    folder: Path,
    *,
    profile: str | None = None,
    compare: Sequence[str] = (),
    limit: int | None = None,
    exclude_types: Collection[str] = (),
    consolidate: bool = False,
    gate: bool = False,
    configured: Settings | None = None,
    progress: Stage | None = None,
) -> Report:
    """
    Import a folder's corpus into a temporary memory, ask its questions, and report.

    Args:
        profile: retrieval settings by name.
        compare: further profiles that are asked the same questions of the same memory; `default` for none.
        limit: the first so many questions only.
        consolidate: let the rules split, skip and retire; by default each row is kept as one memory, word for word.
        gate: let questions come back empty when nothing is relevant.
        configured: all settings; default the environment's.
        progress: see `show_progress`.

    Raises:
        InputError: the folder is no evaluation set; names file and line.
        SettingsError: an unknown profile.
    """
    for name in (profile, *compare):
        if wanted := _profile_of(name):
            settings.with_profile(Settings(), wanted)  # an import may take minutes: a wrong name is refused before it
    data = sets.read_set(folder, limit=limit, exclude_types=exclude_types)
    with prepare_trial(data, consolidate=consolidate, configured=configured, progress=progress) as trial:
        trial.gate = gate
        return replace(trial.ask_all(profile), others=tuple(trial.ask_all(other) for other in dict.fromkeys(compare)))


@contextmanager
def show_progress() -> Iterator[Stage]:
    """Show a progress bar on stderr for each stage, to hand to `evaluate`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def _profile_of(profile: str | None) -> str | None:
    return None if profile == DEFAULT else profile


def _namespace(scope: str | None) -> str:
    # The prefix keeps a scope from meaning `main` or `project`.
    return "main" if scope is None else f"scope-{scope}"
