"""A plug-in is found, adds what it says, is gone when it is off, and cannot break what is not its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from memento import plugin
from memento.errors import InputError, NotFound, PluginError, SettingsError
from memento.interfaces.cli import main
from memento.interfaces.mcp import catalogue
from memento.interfaces.web.app import create_app
from memento.iris import IRI
from memento.operations import Operation
from memento.plugin import Plugin
from memento.plugins.cases import plugin as cases
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.guard import plugin as guard
from memento.plugins.guard.settings import EncryptionSettings
from memento.plugins.intake import plugin as intake
from memento.plugins.keys import plugin as keys
from memento.plugins.keys.settings import KeysSettings
from memento.plugins.lab import plugin as lab
from memento.plugins.living import operations
from memento.plugins.living import plugin as living
from memento.plugins.living.strength import archive_memories
from memento.plugins.published import plugin as published
from memento.plugins.scale import plugin as scale
from memento.plugins.scale.settings import StoreSettings
from memento.python import Memento
from memento.settings import groups, load, with_key_file, without_plugins
from memento.testing import SMALL, check_plugin, memory
from memento.time import now
from operations.samples import make_sample
from plugins.cases.calls import CALLS as CASE_CALLS
from plugins.guard.calls import CALLS as GUARD_CALLS
from plugins.intake.calls import CALLS as INTAKE_CALLS
from plugins.keys.calls import CALLS as KEY_CALLS
from plugins.lab.calls import CALLS as LAB_CALLS
from plugins.living.calls import CALLS
from plugins.scale.calls import CALLS as SCALE_CALLS

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "docs" / "plugins" / "bookmarks"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel of the sample plug-in is installed."""
    folder = tmp_path_factory.mktemp("sample")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(SAMPLE)]
    subprocess.run(command, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "installed")
    return folder / "installed"


def run(program: str | Sequence[str], installed: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program, or `memento` with some arguments, in a process that finds what is installed in a folder."""
    command = ["-c", program] if isinstance(program, str) else ["-m", "memento", *program]
    known = {**os.environ, "PYTHONPATH": str(installed), "MEMENTO_EMBEDDING_MODEL": "trigram", **environment}
    return subprocess.run([sys.executable, *command], env=known, capture_output=True, text=True, check=False)


def install(folder: Path, name: str, source: str, entry: str = "") -> Path:
    """Install a plug-in that is one module."""
    (folder / f"{name}_{len(name)}.py").write_text(source, encoding="utf-8")
    info = folder / f"of_{name}-1.dist-info"
    info.mkdir()
    entry = entry or f"{name}_{len(name)}:plugin"
    (info / "entry_points.txt").write_text(
        f"[other]\na = b:c\n\n[memento.plugins]\n{name} = {entry}\n", encoding="utf-8"
    )
    return folder


def prepare_living(memento: Memento) -> list[Operation[Any]]:
    sample = make_sample(memento, "main", memento.datadir.path.parent)
    scope, stores = memento.context.scope("main", "write"), memento.context.stores
    archive_memories((IRI(sample.other),), scope, now(), stores)
    away = operations.Unarchive(sample.other, namespace="main")
    [other] = memento.note("Rome is warm.").memories
    special = (operations.Unarchive, operations.Associate)
    calls = [call(sample, "main") for asked, call in CALLS.items() if asked not in special]
    return [*calls, away, operations.Associate(sample.memory, other)]


def test_the_entry_points_are_those_that_the_library_finds() -> None:
    found = {one.name: one.value for one in entry_points(group=plugin.GROUP)}

    assert {name: one.entry for name, one in plugin.find_plugins().items()} == found


def prepare_keys(memento: Memento) -> list[Operation[Any]]:
    sample = make_sample(memento, "main", memento.datadir.path.parent)
    return [call(sample, "main") for call in KEY_CALLS.values()]


def prepare_lab(memento: Memento) -> list[Operation[Any]]:
    sample = make_sample(memento, "main", memento.datadir.path.parent)
    return [call(sample, "main") for call in LAB_CALLS.values()]


def prepare_scale(memento: Memento) -> list[Operation[Any]]:
    sample = make_sample(memento, "main", memento.datadir.path.parent)
    return [call(sample, "main") for call in SCALE_CALLS.values()]


def prepare_guard(memento: Memento) -> list[Operation[Any]]:
    sample = make_sample(memento, "main", memento.datadir.path.parent)
    return [call(sample, "main") for call in GUARD_CALLS.values()]


def prepare_cases(memento: Memento) -> list[Operation[Any]]:
    sample = make_sample(memento, "main", memento.datadir.path.parent)
    return [call(sample, "main") for call in CASE_CALLS.values()]


def prepare_intake(memento: Memento) -> list[Operation[Any]]:
    sample = make_sample(memento, "main", memento.datadir.path.parent)
    return [call(sample, "main") for call in INTAKE_CALLS.values()]


def test_ours_are_good_plugins() -> None:
    assert check_plugin("cases", prepare_cases) == []
    assert check_plugin("guard", prepare_guard) == []
    assert check_plugin("intake", prepare_intake) == []
    assert check_plugin("lab", prepare_lab) == []
    assert check_plugin("living", prepare_living) == []
    assert check_plugin("scale", prepare_scale) == []
    direct = SMALL.having(KeysSettings(direct=True))
    assert check_plugin("keys", prepare_keys, configured=direct) == []


def test_without_keys_the_tools_of_other_groups_that_need_them_are_gone() -> None:
    off = without_plugins(SMALL, ["keys"])
    listed = catalogue.list_tools(("care",), off)

    assert "memory_save" not in listed and "memory_stats" not in listed and "memory_recall" in listed
    assert {"memory_save", "memory_stats"} <= catalogue.list_tools(("care",), SMALL).keys()
    with memory(plugins=["living"]) as memento:
        iri = memento.note("I like tea.").memories[0]
        with pytest.raises(
            InputError, match="keys and types cannot be given: no plug-in that is switched on takes them"
        ):
            memento.correct(iri, "I like coffee.", keys=["coffee"])
        with pytest.raises(NotFound, match="there is no operation remember: the plug-in keys is switched off"):
            memento.living.evaluate('(remember "Rome is warm.")')
        memento.correct(iri, "I like coffee.")
        assert [one.content for one in memento.list()] == ["I like coffee."]


def test_without_cases_an_export_still_has_them_and_what_is_erased_goes_from_them_too(tmp_path: Path) -> None:
    told = "PREFIX mem: <http://purl.org/memento/> SELECT ?plan { GRAPH ?g { ?case a mem:Case ; mem:hasAction/mem:content ?plan } }"
    with memory(plugins=["cases"], folder=tmp_path / "home") as with_it:
        [tea] = with_it.note("I like tea.").memories
        with_it.cases.add([CaseRow(task="Make tea.", plan="Boil water.", outcome="success", derived_from=(tea,))])
    with memory(folder=tmp_path / "home") as without, create_app(without.service).test_client() as client:
        with pytest.raises(NotFound, match="there is no operation retrieve_cases: the plug-in cases is switched off"):
            without.recall("Make tea.", cases=2)
        assert client.get("/cases", headers={"Accept": "text/html"}).status_code == 404
        assert "/cases" not in client.get("/", headers={"Accept": "text/html"}).text
        assert "memento_cases" not in client.get("/metrics").text
        assert "executor" not in dict(groups(without.settings))
        assert without.admin.check() == ()
        without.export(tmp_path / "rows.jsonl", anonymise=True)
        assert "Boil water." in (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
        assert [str(row["plan"]) for row in without.query(told)] == ["Boil water."]
        assert len(without.forget(tea, erase=True).cases) == 1
        assert list(without.query(told)) == []


def test_without_a_plugin_its_operations_and_settings_are_gone_and_its_data_stay() -> None:
    with memory(plugins=["living"]) as with_it:
        with_it.living.set_policy("numbers", "(stats)")
        folder = with_it.datadir.path
        assert "sexpr" in dict(groups(with_it.settings))
        with_it.close()
        with memory(folder=folder) as without:
            with pytest.raises(NotFound, match="there is no operation policies: the plug-in living is switched off"):
                without.living.policies()
            rows = without.query(
                "SELECT ?rule { GRAPH ?g { ?p a <http://purl.org/memento/Policy> ; "
                "<http://purl.org/memento/expression> ?rule } }"
            )
            assert [str(row["rule"]) for row in rows] == ["(stats)"]
            assert "sexpr" not in dict(groups(without.settings))


def test_the_settings_file_switches_a_plugin_off(tmp_path: Path) -> None:
    def invoke(*words: str) -> Any:
        return CliRunner().invoke(main, ["--home", str(tmp_path), *words])

    before, switched = invoke("plugins"), invoke("plugins", "--off", "living")
    off = load(tmp_path / "memento.toml", {})
    gone, listed = invoke("expressions", "eval", "(stats)"), invoke("--help")
    unknown = invoke("plugins", "--off", "tides")
    back = invoke("plugins", "--on", "living", "--json")

    assert "living       on " in before.output and "evaluate" in before.output and "modules" in before.output
    assert "living       off" in switched.output
    assert off.plugins.left_out == {"living"} and "sexpr" not in dict(groups(off))
    assert gone.exit_code == 2 and "`memento plugins --on living` switches it on" in gone.output
    assert "expressions" not in listed.output and "cases" in listed.output
    assert (
        unknown.exit_code == 2
        and "there is no plug-in 'tides': there are cases, guard, intake, keys, lab, living, published, scale"
        in unknown.output
    )
    assert [row["state"] for row in json.loads(back.output)] == ["on"] * 8


def test_a_plugin_that_is_switched_off_and_not_installed_is_told() -> None:
    told: list[str] = []
    load(environment={"MEMENTO_PLUGINS_OFF": "tides, living"}, tell=told.append)

    assert len(told) == 1 and "plugins.off = tides" in told[0]


BROKEN = {
    "missing": ("", "nowhere:plugin", "ModuleNotFoundError: No module named 'nowhere'"),
    "later": (
        "from memento.plugin import Plugin\nplugin = Plugin(name='later', summary='Later.', api=9)",
        "",
        "it is made for version 9 of plug-ins, and this is 1: install another version",
    ),
    "needy": (
        "from memento.plugin import Plugin\nplugin = Plugin(name='needy', summary='Needs.', needs=('nowhere',))",
        "",
        "it needs nowhere: install what has it",
    ),
    "misnamed": (
        "from memento.plugin import Plugin\nplugin = Plugin(name='other', summary='Other.')",
        "",
        "it calls itself 'other', and its entry point 'misnamed': give both the same name",
    ),
    "number": ("plugin = 3", "", "its entry point names a int, not a memento.plugin.Plugin"),
    "halfway": (
        "from memento.plugin import Plugin\nplugin = Plugin(name='halfway', summary='Half.', operations='nowhere')",
        "",
        "ModuleNotFoundError: No module named 'nowhere'",
    ),
}


def test_a_plugin_that_cannot_be_loaded_is_named_and_left_out(tmp_path: Path) -> None:
    for name, (source, entry, _) in BROKEN.items():
        install(tmp_path, name, source, entry)
    home = str(tmp_path / "home")
    listed = run(["--home", home, "plugins", "--json"], tmp_path)
    strict = run(["--home", home, "plugins", "--strict"], tmp_path)
    health = run(
        "import json; from memento.testing import memory; from memento.service.handlers.recall import health\n"
        "with memory() as memento: print(json.dumps(dict(health(memento.context, {}).plugins)))",
        tmp_path,
    )
    rows = {row["name"]: row for row in json.loads(listed.stdout)}

    assert (listed.returncode, strict.returncode, health.returncode) == (0, 1, 0), health.stderr
    assert {name: rows[name]["problem"] for name in BROKEN} == {name: said for name, (_, _, said) in BROKEN.items()}
    assert json.loads(health.stdout.splitlines()[-1]) == {name: rows[name]["problem"] for name in BROKEN}
    assert rows["living"]["state"] == "on"


def clashing(adds: str) -> str:
    return f'''
from memento.operations.base import Operation
from memento.plugin import Plugin
plugin = Plugin(name="tides", summary="Clashes.", {adds})

class Recall(Operation["int"], frozen=True):
    """Recall."""
    route = "GET /tides/recall"
'''


def test_a_clash_of_names_stops_the_start_with_both_names_in_one_line(tmp_path: Path) -> None:
    install(tmp_path, "tides", clashing("operations='tides_5'"))
    done = run(["--home", str(tmp_path / "home"), "plugins"], tmp_path)

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "memento: operations: Memento and the plug-in tides both have 'recall'; uninstall or rename one of them"
    ]


CLASHES = {
    "settings={'land': 'x'}": ("settings", "Memento", "land", "settings.plugin_groups()"),
    "stores={'sparql': 'x'}": (
        "stores",
        "the plug-in scale",
        "sparql",
        "settings.load(None, {'MEMENTO_STORE_KIND': 'x'})",
    ),
    "indexes={'lance': 'x'}": (
        "indexes",
        "the plug-in scale",
        "lance",
        "settings.load(None, {'MEMENTO_INDEX_KIND': 'x'})",
    ),
    "protects={'encryption.json': 'x'}": (
        "protects",
        "the plug-in guard",
        "encryption.json",
        "plugin.name_owners('protects')",
    ),
    "engines={'hybrid': 'x'}": ("engines", "Memento", "hybrid", "settings.Settings() and settings.list_engines()"),
    "engines={'published': 'x'}": ("engines", "the plug-in published", "published", "settings.load(None, {})"),
    "profiles={'seed': 'x'}": ("profiles", "the plug-in published", "seed", "settings.load(None, {}, profile='seed')"),
    "settings={'store': 'x'}": ("settings", "the plug-in scale", "store", "settings.Settings()"),
    "settings={'sexpr': 'x'}": ("settings", "the plug-in living", "sexpr", "settings.plugin_groups()"),
    "tools={'care': 'x'}": ("tools", "Memento", "care", "reload(catalogue)"),
    "operations='x', groups={'session': 'Sessions.'}": ("commands", "Memento", "session", "commands.add_plugins()"),
    "signals={'words': 'x'}": ("signals", "Memento", "words", "signals.add_plugins()"),
    "importers={'obsidian': 'x'}": ("importers", "the plug-in intake", "obsidian", "importers.list_sources()"),
    "pages={'/timeline': 'x'}": ("pages", "Memento", "/timeline", "reload(pages)"),
}
"""What a plug-in adds: the kind, whose name it takes, the name, and what notices it at a start."""

TRY = """
import json, sys
from importlib import reload
from memento import plugin, settings
from memento.intake import importers
from memento.interfaces.cli import commands
from memento.interfaces.mcp import catalogue
from memento.interfaces.web import pages
from memento.retrieval import signals
for group in plugin.name_owners("groups"):
    del commands.main.commands[group]  # as before a start
for number, start in enumerate(json.loads(sys.argv[1])):
    sys.path.insert(0, f"{sys.argv[2]}/{number}")
    sys.modules.pop("tides_5", None)
    for known in (plugin.find_plugins, plugin.collect, plugin.name_owners):
        known.cache_clear()
    try:
        eval(start)
        print("nothing")
    except plugin.PluginError as error:
        print(error)
    del sys.path[0]
"""


def test_a_clash_is_noticed_in_every_kind(tmp_path: Path) -> None:
    for number, adds in enumerate(CLASHES):
        (tmp_path / str(number)).mkdir()
        install(tmp_path / str(number), "tides", clashing(adds))
    starts = json.dumps([start for _, _, _, start in CLASHES.values()])
    done = run(f"import sys; sys.argv += [{starts!r}, {str(tmp_path)!r}]\n{TRY}", tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{kind}: {owner} and the plug-in tides both have {name!r}; uninstall or rename one of them"
        for kind, owner, name, _ in CLASHES.values()
    ]


def test_a_plugin_cannot_have_the_name_of_a_method(tmp_path: Path) -> None:
    source = """
from memento.operations.base import Operation
from memento.plugin import Plugin
plugin = Plugin(name="note", summary="Clashes.", operations="note_4")

GROUP = "note"

class Tides(Operation["int"], frozen=True):
    route = "GET /tides"
"""
    install(tmp_path, "note", source)
    done = run("import memento.python", tmp_path)

    assert "methods: Memento and the plug-in note both have 'note'" in done.stderr.splitlines()[-1]


def test_two_distributions_with_one_plugin_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "living", "plugin = None")
    done = run("from memento import plugin; plugin.find_plugins()", tmp_path)

    assert "both have a plug-in 'living': uninstall one of them" in done.stderr.splitlines()[-1]


FLEETING = """
from memento.backends import Backends, set_aside
from memento.graph.inferences import Inferences
from memento.graph.oxigraph import Oxigraph
from memento.graph.snapshot import Snapshots
from memento.graph.version import load_ontology
from memento.plugin import Plugin
from memento.search.indexes import Indexes
from memento.search.vectors import VectorFile

plugin = Plugin(
    name="fleeting",
    summary="A store that nothing outlives, and an index that is made anew.",
    stores={"fleeting": "fleeting_8:open_store"},
    indexes={"anew": "fleeting_8:open_index"},
)

def open_store(datadir, settings, embedder, mends):
    graph = Oxigraph()
    load_ontology(graph)
    indexes = open_index(graph, embedder, VectorFile(None, embedder.fingerprint), datadir, settings)
    aside = set_aside(graph, indexes, False)
    return Backends(graph, embedder, indexes, datadir, Snapshots(graph, datadir.snapshots), Inferences(graph), aside)

def open_index(graph, embedder, file, datadir, settings):
    print("opens", type(graph).__name__)
    return Indexes(graph, embedder, file)
"""

FLEE = """
import json, sys
from dataclasses import replace
from pathlib import Path
from memento.errors import SettingsError
from memento.settings import load
from memento.testing import SMALL, memory

def tell(folder, **kinds):
    chosen = load(None, {f"MEMENTO_{group}_KIND": kind for group, kind in kinds.items()})
    chosen = replace(SMALL, store=chosen.store, index=chosen.index)
    told = []
    for _ in range(2):
        with memory(plugins=["fleeting"], folder=Path(sys.argv[1], folder), configured=chosen) as memento:
            told.append([one.content for one in memento.recall("tea", gate=False).memories])
            memento.note("I like tea.")
            told.append([one.content for one in memento.recall("tea", gate=False).memories])
    return told

found = [tell("a", STORE="fleeting"), tell("b", INDEX="anew")]
try:
    load(None, {"MEMENTO_STORE_KIND": "fleeting", "MEMENTO_PLUGINS_OFF": "fleeting"})
except SettingsError as error:
    found.append(str(error))
print(json.dumps(found))
"""


def test_a_plugin_opens_a_store_and_an_index_in_place_of_ours(tmp_path: Path) -> None:
    install(tmp_path, "fleeting", FLEETING)
    done = run(f"import sys; sys.argv.append({str(tmp_path)!r})\n{FLEE}", tmp_path)
    assert done.returncode == 0, done.stderr
    stored, indexed, refused = json.loads(done.stdout.splitlines()[-1])

    tea = ["I like tea."]
    assert stored == [[], tea, [], tea]
    assert indexed[:3] == [[], tea, tea]
    assert done.stdout.splitlines()[:-1] == ["opens Oxigraph"] * 4
    assert refused == (
        "store.kind = 'fleeting' needs the plug-in fleeting, which is switched off: `memento plugins --on fleeting` switches it on"
    )


TIN = """
from memento.errors import SettingsError
from memento.plugin import Plugin

plugin = Plugin(name="tin", summary="Folders in a tin.", protects={"tin.json": "tin_3:open_tin"})

def open_tin(datadir, settings, opens):
    print("looks into", datadir.path.name, opens)
    if (datadir.path / "tin.json").is_file():
        raise SettingsError("the tin is closed")
"""

OPEN = """
import json, sys
from pathlib import Path
from memento.access import unlock_folder
from memento.datadir import DataFolder, find_protector
from memento.errors import InputError, SettingsError
from memento.graph.backups import copy_backup
from memento.testing import SMALL, memory

def try_folder(name, plugins):
    try:
        with memory(plugins=plugins, folder=Path(sys.argv[1], name)) as memento:
            memento.note("I like tea.")
            return len(memento.list())
    except SettingsError as error:
        return str(error)

closed = Path(sys.argv[1], "closed")
closed.mkdir()
(closed / "tin.json").write_text("{}")
found = [try_folder("open", ["tin"]), try_folder("closed", ["tin"]), try_folder("closed", [])]
try:
    copy_backup(closed, Path(sys.argv[1], "copy"), None)
except InputError as error:
    found.append(str(error))
unlock_folder(DataFolder(Path(sys.argv[1], "open")), SMALL, opens=False)
print(json.dumps([*found, find_protector(closed), sorted(path.name for path in closed.iterdir())]))
"""


def test_a_plugin_protects_a_folder_which_is_refused_while_it_is_off(tmp_path: Path) -> None:
    install(tmp_path, "tin", TIN)
    done = run(f"import sys; sys.argv.append({str(tmp_path)!r})\n{OPEN}", tmp_path)
    assert done.returncode == 0, done.stderr
    *looks, found = done.stdout.splitlines()
    opened, closed, off, backup, protector, files = json.loads(found)

    assert looks == ["looks into open True", "looks into closed True", "looks into open False"]
    assert (opened, closed, protector) == (1, "the tin is closed", "tin")
    assert off.endswith(
        "closed needs the plug-in tin, which is switched off: `memento plugins --on tin` switches it on"
    )
    assert "is encrypted: restore it into an encrypted folder" in backup
    assert set(files) <= {"tin.json", "memento.lock"}


def test_without_guard_an_encrypted_folder_is_refused_and_its_commands_and_settings_are_gone(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("a key for the tests of plug-ins")
    key.chmod(0o600)
    home, off = tmp_path / "home", {"MEMENTO_PLUGINS_OFF": "guard", "MEMENTO_EMBEDDING_MODEL": "trigram"}

    def invoke(*words: str) -> Any:
        return CliRunner().invoke(main, ["--home", str(home), *words], env=off)

    sealed = with_key_file(SMALL, key)
    with memory(plugins=["guard"], folder=home, configured=sealed) as memento:
        memento.note("I like tea.")
    before = {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}
    needs = "needs the plug-in guard, which is switched off: `memento plugins --on guard` switches it on"
    refused = [invoke("recall", "tea"), invoke("token", "list"), invoke("restore", str(tmp_path))]

    assert [one.exit_code for one in refused] == [2, 2, 2], [one.output for one in refused]
    assert all(needs in " ".join(one.output.split()) for one in refused)
    assert {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()} == before
    assert "key file" in invoke("--key-file", str(key), "list").output
    for words in (("store", "encrypt"), ("store", "decrypt"), ("store", "reencrypt"), ("sync",)):
        assert invoke(*words, "--help").exit_code == 2
    assert [field.name for field in fields(load(None, off).encryption)] == ["on"]
    with (
        pytest.raises(SettingsError, match=needs),
        memory(configured=replace(SMALL, encryption=EncryptionSettings(on=True))),
    ):
        pass
    with memory(plugins=["guard"], folder=home, configured=sealed) as memento:
        assert [one.content for one in memento.list()] == ["I like tea."]


ALPHABET = """
from memento.model import Scored
from memento.plugin import Plugin

plugin = Plugin(
    name="alphabet",
    summary="What was noted last comes first.",
    engines={"newest": "alphabet_8:rank_newest"},
    profiles={"last": "alphabet_8:LAST"},
)

LAST = {"land": {"engine": "newest"}, "distill": {"top_k": 2}, "gate": {"on": False}}

def rank_newest(question, k, query, stores, settings, watch):
    nodes = question.view.visible.nonzero()[0].tolist()[::-1]
    return [Scored(node, 1.0, "newest") for node in nodes[:k]], len(nodes)
"""

RANK = """
import json
from memento.errors import SettingsError
from memento.settings import list_engines, load, with_profile, without_plugins
from memento.testing import SMALL, memory

with memory(plugins=["alphabet"]) as memento:
    for text in ("I like tea.", "I like coffee.", "I like water."):
        memento.note(text)
    found = [[one.content for one in memento.recall("tea?", **how).memories] for how in ({"profile": "last"}, {"engine": "newest"})]
found.append([*list_engines()])
found.append(load(None, {"MEMENTO_LAND_ENGINE": "newest"}).land.engine)
try:
    with_profile(without_plugins(SMALL, ["alphabet"]), "last")
except SettingsError as error:
    found.append(str(error))
print(json.dumps(found))
"""


def test_a_plugin_ranks_in_its_own_way_and_has_a_profile(tmp_path: Path) -> None:
    install(tmp_path, "alphabet", ALPHABET)
    done = run(RANK, tmp_path)
    assert done.returncode == 0, done.stderr
    by_profile, by_engine, engines, chosen, refused = json.loads(done.stdout.splitlines()[-1])

    assert by_profile == ["I like water.", "I like coffee."]
    assert by_engine[0] == "I like water."
    assert {"newest", "published", "signals", "hybrid"} <= {*engines} and chosen == "newest"
    assert refused == (
        "the profile last needs the plug-in alphabet, which is switched off: `memento plugins --on alphabet` switches it on"
    )


def test_without_scale_its_options_and_settings_are_gone_and_its_store_is_refused(tmp_path: Path) -> None:
    off = {"MEMENTO_PLUGINS_OFF": "scale"}

    def invoke(*words: str) -> Any:
        return CliRunner().invoke(main, ["--home", str(tmp_path), *words], env=off)

    settings = load(None, off)
    assert (
        [field.name for field in fields(settings.store)] == [field.name for field in fields(settings.index)] == ["kind"]
    )
    assert invoke("store", "probe", "--help").exit_code == 2 and "probe" not in invoke("store", "--help").output
    needs = "store.kind = 'sparql' needs the plug-in scale, which is switched off"
    with pytest.raises(SettingsError, match=needs):
        load(None, {**off, "MEMENTO_STORE_KIND": "sparql", "MEMENTO_STORE_QUERY_URL": "http://127.0.0.1:1/query"})
    with pytest.raises(SettingsError, match=needs), memory(configured=replace(SMALL, store=StoreSettings("sparql"))):
        pass
    with pytest.raises(
        SettingsError, match=r"kind of \[index\] in the environment must be one of faiss, lance, milvus, not 'x'"
    ):
        load(None, {"MEMENTO_INDEX_KIND": "x"})


USE = """
import json, sys
from pathlib import Path
from bookmarks.operations import ListBookmarks
from memento import plugin
from memento.interfaces.web.app import create_app
from memento.retrieval.signals import with_weights
from memento.settings import table
from memento.time import now
from memento.testing import SMALL, check_plugin, memory

URLS = "SELECT ?url { ?memory <https://schema.org/url> ?url } ORDER BY ?url"

def prepare(memento):
    memento.import_files(sys.argv[1], consolidate=False)
    return [ListBookmarks()]

with memory(plugins=["bookmarks"], configured=with_weights(SMALL, address=5.0)) as memento:
    prepare(memento)
    memento.note("Tea is green.")
    app = create_app(memento.service).test_client()
    ranked = memento.recall("tea", gate=False, explain=True).memories
    [rome] = [one.memory for one in memento.bookmarks.list() if one.title == "Rome"]
    try:  # this plug-in rewrites with a memory, but not the keys of one
        memento.correct(rome, "Rome, Italy: https://example.org/rome", keys=["city"])
    except Exception as error:
        refused = str(error)
    memento.correct(rome, "The city of Rome: https://example.org/rome")
    found = {
        "refused": refused,
        "titles": [one.title for one in memento.bookmarks.list()],
        "page": app.get("/bookmarks", headers={"Accept": "text/html"}).text,
        "first": [ranked[0].content, ranked[0].why.get("address", 0.0) > 0],
        "metrics": app.get("/metrics").text,
        "openapi": app.get("/memory/openapi.json").json["paths"]["/bookmarks/list"]["get"]["summary"],
        "settings": "weight of having a web address" in table(),
        "inferred": [str(row["url"]) for row in memento.query(URLS)],
        "renamed": [one.content for one in memento.list(tags=["renamed"])],
    }
with memory() as memento:
    app = create_app(memento.service).test_client()
    texts = [app.get(address).text for address in ("/metrics", "/memory/openapi.json")]
    found["off"] = [app.get("/bookmarks").status_code, "memento_bookmarks" in texts[0], "/bookmarks/list" in texts[1]]
    found["off"].append(len(memento.query(URLS)))
    try:
        memento.import_files(sys.argv[1], source="bookmarks")
    except Exception as error:
        found["import"] = str(error)
found["problems"] = check_plugin("bookmarks", prepare)
print(json.dumps(found))
"""

EXPORTED = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p>
<DT><A HREF="https://example.org/tea" ADD_DATE="1736500000">Green tea &amp; water</A>
<DT><A HREF="https://example.org/rome?a=1&b=&lt;script&gt;">Rome</A>
</DL>
"""


def test_the_sample_plugin_is_built_installed_and_works(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "bookmarks.html"
    file.write_text(EXPORTED, encoding="utf-8")
    done = run(f"import sys; sys.argv.append({str(file)!r})\n{USE}", sample)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    commands = [
        run(["--home", str(tmp_path / "home"), *words], sample)
        for words in (("import", str(file)), ("bookmarks", "list-bookmarks"))
    ]

    assert found["problems"] == []
    assert "keys" in found["refused"]
    assert sorted(found["titles"]) == ["Green tea & water", "The city of Rome"]
    assert found["renamed"] == ["The city of Rome: https://example.org/rome"]
    assert '<a href="https://example.org/tea">Green tea &amp; water</a>' in found["page"]
    assert "# TYPE memento_bookmarks gauge\nmemento_bookmarks 2\n" in found["metrics"]
    assert found["first"][1] and "https://" in found["first"][0]
    assert found["openapi"] == "List the bookmarks, newest first" and found["settings"]
    assert found["off"] == [404, False, False, 0]
    assert found["inferred"] == ["https://example.org/rome", "https://example.org/tea"]
    assert found["import"].startswith("'bookmarks' is no source of notes")
    assert "Rome" in commands[1].stdout, commands


def test_every_kind_is_used_and_documented(sample: Path) -> None:
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    names = [one.name for one in fields(Plugin)]
    program = "from bookmarks import plugin; import json; print(json.dumps([k for k in plugin.__slots__ if getattr(plugin, k)]))"
    ours = {
        one
        for one in names
        if any(getattr(of, one) for of in (cases, guard, intake, keys, lab, living, published, scale))
    }
    used = ours | set(json.loads(run(program, sample).stdout))

    assert [name for name in names if f"\n| `{name}` | " not in page] == []
    assert [kind for kind in get_args(plugin.Kind) if kind not in used] == []
    assert (SAMPLE / "bookmarks" / "__init__.py").read_text(encoding="utf-8").partition("plugin = ")[2] in page


def test_settings_without_a_plugin_keep_the_others() -> None:
    assert without_plugins(SMALL, []) == SMALL
    assert dict(groups(SMALL)).keys() - dict(groups(without_plugins(SMALL, ["living"]))).keys() == {"sexpr"}


def test_a_plugin_that_is_not_installed_is_refused() -> None:
    assert check_plugin("tides") == [
        "there is no plug-in 'tides': install it; there are cases, guard, intake, keys, lab, living, published, scale"
    ]
    with pytest.raises(PluginError, match="nonsense: Memento and the plug-in tides both have 'a'"):
        plugin.refuse_clash("nonsense", {"a": "Memento"}, ("a",), "tides")
