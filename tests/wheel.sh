# Builds the wheel, installs it without its dependencies beside those of the virtual environment, and lets it check itself in an
# empty folder: proves that the ontology, the queries, the prompts, the page at /sparql and the documentation are inside.
set -eu
python=$(cd "$(dirname "${PYTHON:-.venv/bin/python}")" && pwd)/$(basename "${PYTHON:-python}")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m build --wheel --no-isolation --outdir "$work/dist" "$root" > "$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/site" "$work"/dist/*.whl
mkdir "$work/empty"
cd "$work/empty"
# The editable install of the checkout must not be what answers: the wheel comes first, and says where it lies.
where=$(PYTHONPATH="$work/site" "$python" -c 'import memento; print(memento.__file__)')
case "$where" in "$work"/site/*) ;; *) echo "the wheel was not what ran: $where"; exit 1 ;; esac
PYTHONPATH="$work/site" MEMENTO_EMBEDDING_MODEL=trigram "$python" -m memento check --home "$work/empty/home"
PYTHONPATH="$work/site" "$python" -c 'from memento.consolidation.models import digest_prompts; print("prompts", digest_prompts()[:12])'
PYTHONPATH="$work/site" "$python" -c 'from memento.interfaces.web.yasgui import BUNDLE; print("page", BUNDLE.digest)'
PYTHONPATH="$work/site" "$python" -c 'from memento.interfaces.web.pages import find_site; print("site", len(list(find_site().rglob("*.html"))), "pages")'
[ "$(wc -c < "$(ls "$work"/dist/*.whl)")" -le 5000000 ] || { echo "the wheel is larger than 5 MB"; exit 1; }
echo "the wheel is complete: $(($(wc -c < "$(ls "$work"/dist/*.whl)") / 1024)) KiB"
