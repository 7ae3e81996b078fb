"""
Find names of code in any text by their spelling: files, functions, classes, packages, URLs, environment variables.

*Guarantees:* it takes time that grows with the length of the text; the parts of a URL are no other names; a name is listed once for
each kind.

*But:* names are recognised by spelling alone: `Node.js` and similar names are known not to be files, but every other word with the
suffix of a file counts as one. A name in CamelCase is a class only with a sign of code beside it, or if its last word says what a
class does (`PaymentGateway`). A constant in capitals counts as an environment variable in prose, but in source only where it is
read from the environment.
"""

from __future__ import annotations

import re

from memento.iris import IRI, code_iri
from memento.model import CodeEntity, CodeType

_FILE_ENDINGS = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|rs|java|kt|kts|scala|c|h|cc|cpp|cxx|hpp|cs|rb|php|swift|lua|"
    "sh|bash|zsh|ps1|sql|proto|html|css|scss|md|rst|txt|toml|yaml|yml|json|jsonl|xml|ini|cfg|csv|ttl|rq|pdf|lock|"
    "gradle|tf|r|jl|ex|exs|erl|hs|ml|clj|dart"
)
_URL = re.compile(r"https?://[^\s<>\"'`\\\]){}|]{3,500}")
_FILE = re.compile(
    rf"(?<![\w/.@:+-])(?:~?/|\.{{1,2}}/)?(?:[\w@.+-]{{1,80}}/){{0,12}}[\w@+-][\w@.+-]{{0,79}}\.(?:{_FILE_ENDINGS})(?![\w/-])(?!\.\w)"
)
_NO_FILE = re.compile(
    r"(?:node|vue|next|nuxt|d3|three|react|express|ember|backbone|angular|socket|chart|moment|discord|electron|require)\.js",
    re.IGNORECASE,
)
_FUNCTION = re.compile(
    r"(?<![\w.])(?:[A-Za-z_]\w{0,60}\.){0,5}([A-Za-z_]\w{1,60})\(\)|\b(?:def|function|func|fn)\s{1,4}([A-Za-z_]\w{1,60})\s{0,4}[(<{]"
)
_HUMPS = r"[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{0,30}){1,8}"
_ROLES = (
    "Adapter|Client|Component|Config|Configuration|Context|Controller|Converter|Decoder|Decorator|Dialog|Dispatcher|Dto|Encoder|"
    "Entity|Error|Exception|Executor|Factory|Form|Formatter|Gateway|Handler|Helper|Impl|Interceptor|Iterator|Listener|Loader|Logger|"
    "Manager|Mapper|Middleware|Mixin|Model|Module|Observer|Options|Parser|Policy|Processor|Provider|Proxy|Queue|Registry|Renderer|"
    "Repository|Request|Resolver|Response|Scheduler|Schema|Serializer|Service|Session|Settings|Strategy|Utils|Validator|View|"
    "Visitor|Widget|Worker|Wrapper"
)
_CLASS = re.compile(
    r"\b(?:class|interface|struct|trait|enum)\s{1,4}(?P<declared>[A-Z]\w{1,60})\b"
    rf"|`(?P<quoted>{_HUMPS})`"
    # Followed by brackets, by a call of a method, or by the suffix of a source file.
    rf"|(?<![\w.@#/-])(?P<used>{_HUMPS})"
    r"(?=\(\)|::\w|\.[a-z_]\w{0,60}\(|\.(?:py|java|kt|scala|cs|tsx?|jsx|go|rs|rb|php|swift|cpp|hpp|vue)(?!\w))"
    # By its last word alone: names of products (YouTube, WordPress, AppStore) end otherwise.
    rf"|(?<![\w.@#/-])(?P<named>(?:[A-Z]{{2,5}}|[A-Z][a-z0-9]{{1,30}})(?:[A-Z][a-z0-9]{{1,30}}){{0,6}}(?:{_ROLES}))(?!\w)"
)
_PACKAGE = re.compile(
    r"^[ \t>$]{0,8}(?:from[ \t]{1,4}(?P<from>[A-Za-z_][\w.]{0,80})[ \t]{1,4}import\b"
    r"|import[ \t]{1,4}(?P<import>[A-Za-z_][\w.]{0,80})(?:[ \t]{1,4}as[ \t]{1,4}\w{1,60})?[ \t]{0,4};?[ \t]{0,4}$)"
    r"|\b(?:require\([\"']|from[ \t]{1,4}[\"'])(?P<module>@?[\w-][\w./-]{0,80})[\"']"
    r"|\b(?:pip3?|pipx|uv|poetry|npm|pnpm|yarn|bun|cargo|gem|go)[ \t]{1,4}(?:install|add|i|get)[ \t]{1,4}"
    r"(?P<installed>@?[A-Za-z][\w./-]{0,80})"
    r"|(?<![\w.@])(?P<scoped>@[a-z][\w-]{0,40}/[a-z][\w.-]{0,60})",
    re.MULTILINE,
)
_ACCESSED = re.compile(
    r"(?:\benviron(?:\.get)?|\bget_?[eE]nv|\benv::var|\bprocess\.env|\bENV|\$env)[\s.:(\[\"']{1,4}([A-Z][A-Z0-9_]{2,60})\b"
    r"|\$\{?([A-Z][A-Z0-9_]{2,60})\b"
)
_CAPITALS = re.compile(r"(?<![\w$./-])([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6})(?![\w(-])")
_MOST = 60  # the most names of a text


def list_named_code(text: str, graph: IRI) -> list[CodeEntity]:
    """
    List the code that a text names, as nodes of a graph; those of one spelling and kind are one node.

    >>> [one.name for one in list_named_code("The bug is in auth.py.", IRI("urn:memento:graph:main"))]
    ['auth.py']
    """
    return [make_code_entity(kind, name, graph) for kind, name in find_code_names(text)]


def make_code_entity(kind: CodeType, name: str, graph: IRI) -> CodeEntity:
    """Return the node of a name of code in a graph."""
    return CodeEntity(iri=code_iri(graph, kind, name), name=name, type=kind)


def find_code_names(text: str, *, is_source: bool = False) -> list[tuple[CodeType, str]]:
    """
    Find names of code in a text, at most 60, kind by kind.

    Args:
        is_source: the text is a program; a parser finds its definitions and imports better.

    >>> find_code_names("Call `login()` of src/auth.ts, see https://example.org/doc. Set API_URL.")
    [('url', 'https://example.org/doc'), ('file', 'src/auth.ts'), ('function', 'login'), ('env_var', 'API_URL')]
    >>> find_code_names("pip install httpx, then `HttpClient` works in Node.js.")
    [('class', 'HttpClient'), ('package', 'httpx')]
    >>> find_code_names("The OrderBook() of our LoginForm is slow, unlike YouTube on an iPhone at McDonald.")
    [('class', 'OrderBook'), ('class', 'LoginForm')]
    """
    found: dict[tuple[CodeType, str], None] = {}
    for match in _URL.finditer(text):
        if "REDACTED:" not in match[0]:
            found["url", match[0].rstrip(".,;:!?*_")] = None
    bare = _URL.sub(lambda one: " " * len(one[0]), text)
    for match in _FILE.finditer(bare):
        if not _NO_FILE.fullmatch(match[0]):
            found["file", match[0].removeprefix("./")] = None
    for match in _ACCESSED.finditer(bare):
        found["env_var", match[1] or match[2]] = None
    if not is_source:
        classes = dict.fromkeys(match[match.lastgroup or 0] for match in _CLASS.finditer(bare))
        called = (match[1] or match[2] for match in _FUNCTION.finditer(bare))
        found |= {("function", name): None for name in called if name not in classes}
        found |= {("class", name): None for name in classes}
        found |= {("package", _cut_package(match)): None for match in _PACKAGE.finditer(bare)}
        found |= {("env_var", match[1]): None for match in _CAPITALS.finditer(bare) if "REDACTED" not in match[1]}
    return [one for one in found if one[1]][:_MOST]


def _cut_package(match: re.Match[str]) -> str:
    """Return the name of a package without the module in it; "" for a path."""
    if dotted := match["from"] or match["import"]:
        return dotted.partition(".")[0]
    name = (match["module"] or match["installed"] or match["scoped"]).rstrip(".,")
    return "" if name.startswith(".") else cut_module(name)


def cut_module(name: str) -> str:
    """
    Cut the path inside a package off its name, as in imports of JavaScript.

    >>> cut_module("@scope/kit/sub"), cut_module("react/dom"), cut_module("github.com/a/b")
    ('@scope/kit', 'react', 'github.com/a/b')
    """
    parts = name.split("/")
    if "." in parts[0]:
        return name
    return "/".join(parts[: 2 if name.startswith("@") else 1])
