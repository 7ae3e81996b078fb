"""
What the site needs beside `docs/`: pages, files and notebooks of the checkout that docs link to, and pages without inline scripts.

*Guarantees:* a link to a file of the checkout leads to its copy in the site; one to a source file becomes its name. No page of the
site has a script of its own: each is a file, so that the policy of the service allows it.
"""

from __future__ import annotations

import json
import posixpath
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages of the checkout, and where they are in the site."""
COPIES = ("queries/**/*.r[qu]", "ontology/*", "LICENSE", "NOTICE")
ALIASES = {"README.md": "index.md", "queries": "reference/queries.md", "queries/library": "reference/queries.md"}
"""What links lead to instead."""

_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.M | re.S)
_SVG = re.compile(r"<svg\b.*</svg>", re.S)
_LINE_END = "\n"
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)
_scripts: dict[str, str] = {}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and files that are not below `docs/`."""
    _scripts.clear()
    for source, target in PAGES.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    for pattern in COPIES:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file():
                files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=write_notebook(path)))
    return files


def write_notebook(path: Path) -> str:
    """Return a notebook as Markdown: its words, its code, and what the code showed."""
    lines: list[str] = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        lines += [source, ""] if cell["cell_type"] == "markdown" else ["```python", source, "```", ""]
        for output in cell.get("outputs", ()):
            lines += [_write_output(output), ""]
    return "\n".join(lines)


def _write_output(output: dict[str, Any]) -> str:
    shown = {kind: text if isinstance(text, str) else "".join(text) for kind, text in output.get("data", {}).items()}
    drawn = _SVG.search(shown.get("image/svg+xml") or shown.get("text/html", ""))
    if "image/png" in shown:
        return f"![What the cell draws](data:image/png;base64,{shown['image/png'].replace(_LINE_END, '')})"
    if drawn:
        whole = (
            drawn[0] if "xmlns=" in drawn[0] else drawn[0].replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
        )
        return f"![What the cell draws](data:image/svg+xml;base64,{b64encode(whole.encode()).decode()})"
    if "text/html" in shown:  # tables; a page allows no style of theirs
        bare = re.sub(
            r"<style.*?</style>|\s(?:style|class|border)=(\"[^\"]*\"|'[^']*')", "", shown["text/html"], flags=re.S
        )
        return re.sub(r"\n\s*\n", "\n", bare)
    text = shown.get("text/plain") or "".join(output.get("text", ()))
    return f"```text\n{text.rstrip()}\n```"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links to files of the checkout lead to their copies, outside blocks of code."""
    here = page.file.src_uri
    inside = here if here.startswith("notebooks/") else f"docs/{here}"
    written = next((source for source, target in PAGES.items() if target == here), inside)
    pieces, end = [], 0
    for fence in _FENCE.finditer(markdown):
        pieces += [_redirect(markdown[end : fence.start()], written, here, files), fence[0]]
        end = fence.end()
    return "".join([*pieces, _redirect(markdown[end:], written, here, files)])


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Take the scripts out of a page into files, and name its dialog for screen readers."""
    base = posixpath.relpath("assets/scripts", posixpath.dirname(page.file.dest_uri) or ".")

    def replace(found: re.Match[str]) -> str:
        name = f"{sha256(found[1].encode()).hexdigest()[:16]}.js"
        _scripts[name] = found[1]
        return f'<script src="{base}/{name}"></script>'

    named = output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )
    return _SCRIPT.sub(replace, named)


def on_post_build(config: Any) -> None:
    """Write the scripts; leave out what only serves to look for faults of the theme, and words of other languages."""
    site = Path(config.site_dir)
    folder = site / "assets" / "scripts"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _scripts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for pattern in ("assets/**/*.map", "assets/javascripts/lunr/**/*", "404.html", "sitemap.xml*"):
        for path in site.glob(pattern):
            if path.is_file():
                path.unlink()


def _redirect(text: str, written: str, here: str, files: Files) -> str:
    def replace(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        if ":" in target or target.startswith("/"):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(written), target))
        there = ALIASES.get(path) or PAGES.get(path) or path.removeprefix("docs/").replace(".ipynb", ".md")
        if files.get_file_from_path(there):
            return f"[{label}]({posixpath.relpath(there, posixpath.dirname(here) or '.')}{anchor})"
        # A source file is no part of the site; what is nowhere stays, and mkdocs refuses it.
        return label if not path.startswith("docs/") and (ROOT / path).exists() else found[0]

    return _LINK.sub(replace, text)
