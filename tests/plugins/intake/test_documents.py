"""Files and folders come in piece by piece, once; what was changed is replaced, what is gone retired, what cannot be read told."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from reportlab.pdfgen.canvas import Canvas

from conftest import OFFLINE
from doors import serving
from memento.access import Access
from memento.errors import Forbidden, InputError
from memento.intake.redaction import Redactor
from memento.iris import graph_iri
from memento.plugins.intake import operations as intake
from memento.plugins.intake.extractors import cut_pieces, extract
from memento.plugins.intake.locations import LeftOut, list_files
from memento.plugins.intake.nouns import Ingested
from memento.plugins.intake.settings import IntakeSettings
from memento.python import Client, Memento, open_memento
from memento.settings import RedactionSettings

SECRET = "AKIA" + "IOSFODNN7EXAMPLE"


def make_pdf(*pages: str, title: str = "") -> bytes:
    """Return a PDF with these pages, lines by line."""
    held = io.BytesIO()
    canvas = Canvas(held)
    canvas.setTitle(title)
    for page in pages:
        for place, line in enumerate(page.split("\n")):
            canvas.drawString(72, 780 - 14 * place, line)
        canvas.showPage()
    canvas.save()
    return held.getvalue()


def make_png(**said: str) -> bytes:
    """Return a picture of a few dots, with texts in it."""
    info, held = PngInfo(), io.BytesIO()
    for name, text in said.items():
        info.add_text(name, text)
    Image.new("RGB", (4, 4)).save(held, "PNG", pnginfo=info)
    return held.getvalue()


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


FILES: dict[str, str | bytes] = {
    "README.md": "---\ntitle: The tea house\nauthor: Ana\n---\n# Tea\n\nGreen tea takes two minutes.\n\n"
    "| leaf | minutes |\n| --- | --- |\n| sencha | 1 |\n| oolong | 4 |\n",
    "notes.txt": f"My key is {SECRET} today.\n\nThe kettle stands on the left.\n",
    "src/brew.py": "import httpx\nimport os\n\n\nclass Kettle:\n    def boil(self) -> None:\n"
    '        httpx.post(os.environ["KETTLE_URL"])\n\n\ndef pour(cup: str) -> str:\n    return cup\n',
    "page.html": "<html><head><title>Cups</title></head><body><nav>Home</nav><article><h1>Cups</h1>"
    + "<p>Every cup of the house is made of stoneware from Mashiko, where the potters have dug their clay for two centuries, and "
    "each of them is a little different from the next, as nobody there uses a mould.</p>"
    * 3
    + "</article></body></html>",
    "stock.csv": "leaf;grams\nsencha;200\noolong;50\n",
    "report.pdf": make_pdf("The harvest of May was good.", "The harvest of June was late.", title="Harvest"),
    "cup.png": make_png(Description="A blue cup beside the window"),
    "plain.png": make_png(),
    ".env": "TOKEN=abcdefgh12345678",
    "id_rsa": "-----BEGIN PRIVATE KEY-----",
    "blob.bin": b"\x00\x01\x02" * 50,
    "empty.txt": b"",
    "latin.txt": "Der Käse heißt Gruyère.".encode("cp1252"),
    "node_modules/x.js": "let a = 1",
    "rows.jsonl": '{"a": 1}\n',
}


def contents(memento: Memento, **options: Any) -> list[str]:
    return [one.content for one in memento.list(limit=500, **options)]


def ask(memento: Memento, sparql: str) -> list[str]:
    body, _ = memento.graphs.query_bytes(f"PREFIX mem: <http://purl.org/memento/>\n{sparql}", accept="text/csv")
    return body.decode().replace("\r", "").splitlines()[1:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write(tmp_path_factory.mktemp("tea"), FILES)
    (made / "loop").symlink_to(made, target_is_directory=True)
    (made / "outside.txt").symlink_to("/etc/hostname")
    os.mkfifo(made / "pipe.txt")
    return made


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Any:
    """A memory that has read the folder once, and what that answered."""
    opened = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        trial = opened.intake.ingest(folder, dry_run=True)
        assert contents(opened) == []
        steps: list[tuple[int, int]] = []
        done = opened.intake.ingest(folder, progress=lambda *step: steps.append(step))
        yield opened, done, trial, steps


def test_every_kind_of_file_is_read_as_what_it_is(house: Any) -> None:
    memento, done, _, _ = house
    said = contents(memento)

    assert done.fresh == 8
    for words in (
        "leaf: sencha; minutes: 1\nleaf: oolong; minutes: 4",
        "Author: Ana",
        "The kettle stands on the left.",
        "def pour(cup: str)",
        "made of stoneware from Mashiko",
        "leaf: oolong; grams: 50",
        "The harvest of June was late.",
        "Picture cup.png: A blue cup beside the window",
        "Der Käse heißt Gruyère.",
    ):
        assert [one for one in said if words in one], words
    assert not [one for one in said if "Home" in one]
    assert memento.admin.check() == ()


def test_pieces_stand_in_the_order_of_their_document(house: Any, folder: Path) -> None:
    memento, _, _, _ = house
    rows = ask(
        memento,
        "SELECT ?position ?text { ?d a mem:Document ; mem:name ?name . FILTER (STRENDS(?name, 'stock.csv')) "
        "?n mem:session ?d ; mem:position ?position ; mem:content ?text } ORDER BY ?position",
    )

    assert rows == ["0,leaf: sencha; grams: 200", "1,leaf: oolong; grams: 50"]


def test_what_is_not_read_is_told_with_its_reason(house: Any) -> None:
    _, done, trial, steps = house

    assert done.left_out == trial.left_out
    assert done.left_out["its name says that secrets are in it"] == 2
    assert done.left_out["it is binary"] == 1
    assert done.left_out["it is empty"] == 1
    assert done.left_out["it is a link"] == 2
    assert done.left_out["it is no file"] == 1
    assert [reason for reason in done.left_out if "tesseract" in reason]
    assert [name for name in done.names if name.startswith("plain.png: ")]
    assert steps[-1][0] == steps[-1][1]


def test_a_trial_counts_the_same_and_writes_nothing(house: Any) -> None:
    _, done, trial, _ = house

    assert (trial.fresh, trial.pieces, trial.memories) == (done.fresh, done.pieces, 0)
    assert trial.redacted == done.redacted == {"AWS_KEY": 1}


def test_a_secret_in_a_file_is_nowhere_in_the_data_folder(house: Any) -> None:
    memento, _, _, _ = house
    held = [path for path in memento.datadir.path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]

    assert held == []
    assert [one for one in contents(memento) if "[REDACTED:AWS_KEY]" in one]


def test_a_second_time_reads_nothing_again(house: Any, folder: Path) -> None:
    memento, done, _, _ = house

    again = memento.intake.ingest(folder)

    assert (again.fresh, again.changed, again.unchanged, again.pieces) == (0, 0, done.fresh, 0)


def test_code_is_in_the_graph_with_what_it_defines_and_imports(house: Any) -> None:
    memento, _, _, _ = house
    rows = ask(
        memento,
        "SELECT ?edge ?type ?name { ?f mem:name 'src/brew.py' ; ?p ?e . ?e mem:codeType ?type ; mem:name ?name "
        "BIND (STRAFTER(STR(?p), 'memento/') AS ?edge) } ORDER BY ?edge ?name",
    )

    assert rows == [
        "defines,class,Kettle",
        "defines,function,boil",
        "defines,function,pour",
        "imports,package,httpx",
        "imports,package,os",
    ]
    assert ask(memento, "SELECT ?t { ?m mem:refers ?e ; mem:content ?t . ?e mem:name 'KETTLE_URL' }") != []
    # What a program calls by a large letter is nobody's name.
    assert ask(memento, "SELECT ?n { ?e a mem:Entity ; mem:name ?n FILTER (?n IN ('Kettle', 'None')) }") == []


def test_six_kinds_of_code_are_found_in_a_text(memento: Memento, tmp_path: Path) -> None:
    text = (
        "Call `login()` of src/auth.ts, which the class AuthService uses. Run pip install httpx.\n\n"
        "Set AUTH_URL as https://example.org/auth says.\n"
    )
    memento.intake.ingest(write(tmp_path / "a", {"guide.md": text}) / "guide.md")

    rows = ask(
        memento, "SELECT ?type ?name { ?e a mem:CodeEntity ; mem:codeType ?type ; mem:name ?name } ORDER BY ?type ?name"
    )

    assert rows == [
        "class,AuthService",
        "env_var,AUTH_URL",
        "file,guide.md",
        "file,src/auth.ts",
        "function,login",
        "package,httpx",
        "url,https://example.org/auth",
    ]


def test_a_name_in_a_text_is_the_file_of_the_same_folder(memento: Memento, tmp_path: Path) -> None:
    memento.intake.ingest(
        write(tmp_path / "a", {"src/auth.ts": "export const a = 1;\n", "guide.md": "See auth.ts first.\n"})
    )

    rows = ask(
        memento, "SELECT ?n { ?m mem:content 'See auth.ts first.' ; mem:refers ?e . ?e mem:name ?n } ORDER BY ?n"
    )

    assert rows == ["guide.md", "src/auth.ts"]


def test_only_what_was_changed_is_read_again_and_what_it_replaces_says_why(memento: Memento, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "a", {"cups.csv": "name,many\na,1\nb,2\nc,3\n", "x.txt": "One.", "gone.txt": "Old words."}
    )
    memento.intake.ingest(folder)
    before = {one.content: one.iri for one in memento.list(limit=100)}
    write(folder, {"cups.csv": "name,many\na,1\nb,7\n"})
    (folder / "gone.txt").unlink()

    done = memento.intake.ingest(folder)
    after = {one.content: one.iri for one in memento.list(limit=100)}

    assert (done.fresh, done.changed, done.unchanged, done.gone) == (0, 1, 1, 1)
    assert (done.memories, done.retired) == (1, 3)
    assert sorted(after) == ["One.", "name: a; many: 1", "name: b; many: 7"]
    assert after["name: a; many: 1"] == before["name: a; many: 1"]
    assert ask(memento, "SELECT ?r { ?i a mem:Invalidation ; mem:reason ?r }") == ["cups.csv was changed"]
    assert ask(memento, "SELECT ?r { ?d a mem:Document ; mem:invalidAt ?t ; mem:reason ?r }") == ["it is there no more"]
    assert memento.admin.check() == ()


def test_a_file_that_comes_back_is_read_again(memento: Memento, tmp_path: Path) -> None:
    folder = write(tmp_path / "a", {"a.txt": "First words.", "b.txt": "Other."})
    memento.intake.ingest(folder)
    (folder / "a.txt").unlink()
    memento.intake.ingest(folder)
    write(folder, {"a.txt": "First words."})

    done = memento.intake.ingest(folder)

    assert (done.fresh, done.memories) == (1, 1)
    assert sorted(contents(memento)) == ["First words.", "Other."]


def test_what_the_user_forgot_of_a_document_stays_forgotten(memento: Memento, tmp_path: Path) -> None:
    folder = write(tmp_path / "a", {"a.csv": "n,v\na,1\nb,2\n"})
    memento.intake.ingest(folder)
    memento.forget(next(one.iri for one in memento.list() if "a" in one.content.split(";")[0][3:]))
    write(folder, {"a.csv": "n,v\na,1\nb,3\n"})

    memento.intake.ingest(folder)

    assert contents(memento) == ["n: b; v: 3"]


def test_an_ingest_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    rows = "\n".join(f"name {number};{number}" for number in range(60))
    folder = write(tmp_path / "a", {"a.csv": f"name;number\n{rows}\n"})
    script = (
        "import os, sys; from conftest import OFFLINE; from memento.python import open_memento\n"
        "from memento.backends import Backends\n"
        "commit, seen = Backends.commit, []\n"
        "def dying(*given):\n"
        "    commit(*given); seen.append(1)\n"
        "    if len(seen) == 40: os.kill(os.getpid(), 9)\n"
        "Backends.commit = dying\n"
        "open_memento(sys.argv[1], configured=OFFLINE).intake.ingest(sys.argv[2])"
    )
    home = tmp_path / "home"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script, str(home), str(folder)], env=environment, check=False)
    assert done.returncode == -9

    opened = open_memento(home, configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened as memento:
        assert len(contents(memento)) == 40
        assert memento.intake.ingest(folder).fresh == 1
        assert len(ask(memento, "SELECT ?m { ?m a mem:Memory }")) == 60
        assert memento.intake.ingest(folder).unchanged == 1


def test_a_portion_says_how_many_are_left(memento: Memento, tmp_path: Path) -> None:
    folder = write(tmp_path / "a", {f"{number}.txt": f"Text {number}." for number in range(3)})

    first = memento.intake.ingest(folder, most=2)
    second = memento.intake.ingest(folder, most=2)

    assert (first.fresh, first.left) == (2, 1)
    assert (second.fresh, second.unchanged, second.left) == (1, 2, 0)


def test_a_running_service_reads_for_the_owner_and_for_nobody_else(memento: Memento, tmp_path: Path) -> None:
    folder = write(tmp_path / "a", {f"{number}.txt": f"Text {number}." for number in range(30)})
    steps: list[tuple[int, int]] = []
    with serving(memento) as address, Client(address) as client:
        done = client.intake.ingest(folder, progress=lambda *step: steps.append(step))

    assert (done.fresh, done.unchanged) == (30, 0)
    assert steps == [(25, 30), (30, 30)]
    stranger = memento.with_access(Access(right="admin", name="laptop"))
    with pytest.raises(Forbidden, match="on the machine of the memory"):
        stranger.intake.ingest(folder)
    with pytest.raises(InputError, match="is not an absolute path"):
        memento.call(intake.Ingest("a/b.txt"))
    with pytest.raises(InputError, match="there is no file or folder"):
        memento.intake.ingest(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        (".env", b"A=1", "secrets are in it"),
        ("a.pdf", b"%PDF-1.4 broken", "it is no whole PDF"),
        ("a.png", b"\x89PNG broken", "it is no whole picture"),
        ("a.csv", b"only,a header\n", "it has no rows below its header"),
        ("a.html", b"<html></html>", "it has no text"),
        ("a.bin", b"\x00\x01", "it is binary"),
        ("a.md", b"---\na: 1\n---\n", "it has no text"),
        ("big.txt", b"a" * 2_000_000, "it is longer than"),
    ],
)
def test_a_file_that_is_named_alone_and_cannot_be_read_says_why(
    name: str, data: bytes, reason: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    memento: Memento = request.getfixturevalue("memento")
    object.__setattr__(memento.settings.of(IntakeSettings), "file_bytes", 1_000_000)
    (tmp_path / name).write_bytes(data)

    with pytest.raises(InputError, match=reason):
        memento.intake.ingest(tmp_path / name)

    object.__setattr__(memento.settings.of(IntakeSettings), "file_bytes", 67_108_864)
    assert contents(memento) == []


def test_a_namespace_that_refuses_secrets_leaves_the_file_out(memento: Memento, tmp_path: Path) -> None:
    memento.service.redactor = Redactor(RedactionSettings(refuse="strict"), tmp_path / "counts.json")
    folder = write(tmp_path / "a", {"a.txt": f"The key is {SECRET}.", "b.txt": "Nothing here."})

    done = memento.intake.ingest(folder, namespace="strict")

    assert (done.fresh, sum(done.left_out.values())) == (1, 1)
    assert [reason for reason in done.left_out if "takes none" in reason]


def test_a_project_is_indexed_once(memento: Memento, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "shop", {"README.md": "# Shop\n\nSells tea.", "pyproject.toml": "[project]\nname = 'shop'\n"}
    )
    write(
        folder,
        {
            "src/a.py": "a = 1\n",
            "src/deep/b.py": "b = 1\n",
            ".env.example": "SHOP_PORT=80\nSHOP_API_KEY=change-me-please\n",
        },
    )

    first = memento.intake.index_project(str(folder))
    second = memento.intake.index_project(str(folder))
    forced = memento.intake.index_project(str(folder), force=True)
    later = memento.intake.ingest(folder)

    assert (first.fresh, first.memories, first.left_out) == (1, 4, {})
    assert (second.unchanged, second.memories) == (1, 0)
    assert "indexed already" in second.remarks[0]
    assert (forced.changed, forced.memories, forced.retired) == (1, 0, 0)
    assert (later.fresh, later.gone) == (4, 0)
    assert "SHOP_PORT=80" in str(contents(memento)) and "change-me-please" not in str(contents(memento))
    assert [one for one in contents(memento) if "src/deep/ (1 files)" in one]
    tags = ask(memento, "SELECT DISTINCT ?n { ?m mem:tagged ?t . ?t mem:name ?n }")
    assert {"architecture", "config"} <= set(tags)


def test_folders_that_programs_make_and_excluded_names_are_passed_over(tmp_path: Path) -> None:
    folder = write(
        tmp_path, {"a.md": "a", "b.log": "b", "docs/old/c.md": "c", ".git/d": "d", "dist/e.js": "e", "f.min.js": "f"}
    )

    assert list_files(folder, ("*.log", "docs/old"), LeftOut()) == [folder / "a.md"]


def test_code_is_read_as_text_where_no_grammar_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memento.plugins.intake.extractors.parse_code", lambda *given: None)

    found = extract(b"def a():\n    pass\n\n\ndef b():\n    pass\n", Path("a.py"), str)

    assert found.defines == ()
    assert "memento-rdf[ingest]" in found.remark
    assert cut_pieces(found.blocks) == ["def a():\n    pass\n\n\ndef b():\n    pass"]


def test_pieces_are_cut_where_the_text_is_and_lose_no_word() -> None:
    paragraphs = [f"Paragraph {number}. " + "Some words of it are here. " * 20 for number in range(30)]
    text = "\n\n".join(paragraphs) + "\n\n" + "x" * 9_000

    pieces = cut_pieces([text])

    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert max(len(one.split()) for one in pieces) <= 250
    assert max(map(len, pieces)) <= 4_000
    assert all(one.startswith(("Paragraph", "x")) for one in pieces)


def test_the_graph_has_the_documents_of_its_namespace_alone(memento: Memento, tmp_path: Path) -> None:
    folder = write(tmp_path / "a", {"a.txt": "Words."})
    memento.intake.ingest(folder, namespace="one")
    done: Ingested = memento.intake.ingest(folder, namespace="two")

    assert done.fresh == 1
    assert (
        len(
            memento.service.stores.graph.select(
                "plugins/intake/documents", [graph_iri("local", "one")], beginning=str(folder)
            )
        )
        == 1
    )
