"""
Read source files by tree-sitter: where they may be cut, what they define, what they import.

*Guarantees:* the pieces of a file, joined, are the file. A file with syntax errors is read as far as it can be parsed.

*But:* grammars are an extra of the package (`pip install 'memento-rdf[ingest]'`), and exist for thirteen languages; any other file
is cut at blank lines. Definitions inside functions are not listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from memento.assets import install_line
from memento.model import CodeType
from memento.text.code_names import cut_module

MISSING = install_line("ingest")
"""How to install the libraries that read code, PDF and HTML."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A grammar: its package, the types of its nodes that define something, and how an import names a package."""

    module: str
    entry: str = "language"
    functions: frozenset[str]
    classes: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    package: re.Pattern[str] | None = None
    """A pattern over the text of an import, whose group is the package; None if the language has no packages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCode:
    """A parsed source file: texts between which it may be cut, and what it defines and imports, each once, in order."""

    blocks: tuple[str, ...]
    defines: tuple[tuple[CodeType, str], ...] = ()
    imports: tuple[str, ...] = ()


def _nodes(names: str) -> frozenset[str]:
    return frozenset(names.split())


_JAVASCRIPT = {
    "functions": _nodes("function_declaration generator_function_declaration method_definition variable_declarator"),
    "classes": _nodes("class_declaration abstract_class_declaration interface_declaration enum_declaration"),
    "imports": _nodes("import_statement"),
    "package": re.compile(r"""["'](@?[\w-][^"']*)["']"""),
}
_C = {
    "functions": _nodes("function_definition"),
    "classes": _nodes("struct_specifier class_specifier enum_specifier union_specifier"),
    "imports": _nodes("preproc_include"),
    "package": re.compile(r"<([^<>\n]+)>"),
}

LANGUAGES: dict[str, Language] = {
    "python": Language(
        module="tree_sitter_python",
        functions=_nodes("function_definition"),
        classes=_nodes("class_definition"),
        imports=_nodes("import_statement import_from_statement"),
        package=re.compile(r"(?:^from\s+|^import\s+|,\s*)([A-Za-z_]\w*)"),
    ),
    "javascript": Language(module="tree_sitter_javascript", **_JAVASCRIPT),  # type: ignore[arg-type]
    "typescript": Language(module="tree_sitter_typescript", entry="language_typescript", **_JAVASCRIPT),  # type: ignore[arg-type]
    "tsx": Language(module="tree_sitter_typescript", entry="language_tsx", **_JAVASCRIPT),  # type: ignore[arg-type]
    "go": Language(
        module="tree_sitter_go",
        functions=_nodes("function_declaration method_declaration"),
        classes=_nodes("type_spec"),
        imports=_nodes("import_spec"),
        package=re.compile(r'"([^"]+)"'),
    ),
    "rust": Language(
        module="tree_sitter_rust",
        functions=_nodes("function_item"),
        classes=_nodes("struct_item enum_item trait_item"),
        imports=_nodes("use_declaration"),
        package=re.compile(r"use\s+(?!crate\b|self\b|super\b)(\w+)"),
    ),
    "java": Language(
        module="tree_sitter_java",
        functions=_nodes("method_declaration constructor_declaration"),
        classes=_nodes("class_declaration interface_declaration enum_declaration record_declaration"),
        imports=_nodes("import_declaration"),
        package=re.compile(r"import\s+(?:static\s+)?([a-z_][\w]*(?:\.[a-z_]\w*)*)"),
    ),
    "kotlin": Language(
        module="tree_sitter_kotlin",
        functions=_nodes("function_declaration"),
        classes=_nodes("class_declaration object_declaration"),
        imports=_nodes("import import_header"),
        package=re.compile(r"import\s+([a-z_][\w]*(?:\.[a-z_]\w*)*)"),
    ),
    "c": Language(module="tree_sitter_c", **_C),  # type: ignore[arg-type]
    "cpp": Language(module="tree_sitter_cpp", **_C),  # type: ignore[arg-type]
    "c#": Language(
        module="tree_sitter_c_sharp",
        functions=_nodes("method_declaration constructor_declaration"),
        classes=_nodes(
            "class_declaration interface_declaration struct_declaration enum_declaration record_declaration"
        ),
        imports=_nodes("using_directive"),
        package=re.compile(r"using\s+(?:static\s+)?(?:\w+\s*=\s*)?([\w.]+)"),
    ),
    "ruby": Language(
        module="tree_sitter_ruby",
        functions=_nodes("method singleton_method"),
        classes=_nodes("class module"),
        imports=_nodes("call"),
        package=re.compile(r"""^require\s*\(?["']([^"'.][^"']*)["']"""),
    ),
    "php": Language(
        module="tree_sitter_php",
        entry="language_php",
        functions=_nodes("function_definition method_declaration"),
        classes=_nodes("class_declaration interface_declaration trait_declaration enum_declaration"),
        imports=_nodes("namespace_use_declaration"),
        package=re.compile(r"use\s+(?:function\s+|const\s+)?\\?(\w+)"),
    ),
    "bash": Language(module="tree_sitter_bash", functions=_nodes("function_definition")),
}

ENDINGS = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh"), "cpp"),
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    **dict.fromkeys((".sh", ".bash"), "bash"),
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".cs": "c#",
    ".rb": "ruby",
    ".php": "php",
}
"""The language of a source file, by its suffix."""


def parse_code(text: str, language: str, most_words: int) -> ParsedCode | None:
    """
    Parse a source file; None if the grammar is not installed.

    Args:
        language: one of `LANGUAGES`.
        most_words: a longer definition is cut inside.
    """
    if (parser := _load_parser(language)) is None:
        return None
    grammar, data = LANGUAGES[language], text.encode()
    root = parser.parse(data).root_node
    defines: dict[tuple[CodeType, str], None] = {}
    imports: dict[str, None] = {}
    for node in _walk(root, grammar):
        words = node.text.decode("utf-8", "replace")
        if node.type in grammar.imports:
            if grammar.package and not words.startswith("from ."):
                # In "from x import y, z" only x is a package.
                head = words.split(" import ")[0] if words.startswith("from ") else words
                imports |= dict.fromkeys(cut_module(name) for name in grammar.package.findall(head))
        elif name := _read_name(node):
            kind: CodeType = "class" if node.type in grammar.classes else "function"
            defines[kind, name] = None
    return ParsedCode(blocks=tuple(_split_node(data, root, most_words)), defines=tuple(defines), imports=tuple(imports))


@cache
def _load_parser(language: str) -> Any:
    try:
        tree_sitter, grammar = import_module("tree_sitter"), import_module(LANGUAGES[language].module)
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, LANGUAGES[language].entry)()))


def _walk(root: Any, grammar: Language) -> Iterator[Any]:
    """Yield the nodes that define or import something, from the top, without those inside functions."""
    queue = [root]
    while queue:
        node = queue.pop()
        is_function = node.type in grammar.functions and _is_function(node)
        if is_function or node.type in grammar.imports or (node.type in grammar.classes and _has_body(node)):
            yield node
        if not is_function:
            queue += reversed(node.named_children)


def _is_function(node: Any) -> bool:
    if node.type != "variable_declarator":
        return True
    value = node.child_by_field_name("value")
    return value is not None and value.type in ("arrow_function", "function_expression", "generator_function")


def _has_body(node: Any) -> bool:
    """Tell a definition in C from a mere reference."""
    return not node.type.endswith("_specifier") or node.child_by_field_name("body") is not None


def _read_name(node: Any) -> str:
    while (inner := node.child_by_field_name("declarator")) is not None:  # C names a function within its declarator
        node = inner
    if (named := node.child_by_field_name("name")) is None:
        named = node if node.type.endswith("identifier") else None
    if named is None:
        named = next((one for one in node.named_children if one.type.endswith("identifier")), None)
    return named.text.decode("utf-8", "replace")[:200] if named is not None else ""


def _split_node(data: bytes, node: Any, most_words: int) -> Iterator[str]:
    """Yield the text of a node, or those of its parts if it is too long, cut at line ends."""
    at, end = node.start_byte, node.end_byte
    if node.parent is None:
        at, end = 0, len(data)
    for child in node.children:
        stop = data.find(b"\n", child.end_byte, end)
        stop = end if stop < 0 else stop + 1
        if stop <= at or data[child.end_byte : stop].strip(b" \t\n;,"):  # the next one is on the same line
            continue
        part = data[at:stop].decode("utf-8", "replace")
        if len(part.split()) > most_words and child.named_child_count > 1 and child.start_byte >= at:
            head = data[at : child.start_byte].decode("utf-8", "replace")
            inner = list(_split_node(data, child, most_words))
            tail = data[child.end_byte : stop].decode("utf-8", "replace")
            inner[0], inner[-1] = head + inner[0], inner[-1] + tail
            yield from inner
        else:
            yield part
        at = stop
    if at < end:
        yield data[at:end].decode("utf-8", "replace")
