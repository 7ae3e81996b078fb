# Builds, checks and tags a version: `make release VERSION=0.2.0`. Refuses, before anything is built, where the tree has changes
# that are not committed, or where VERSION, pyproject.toml and CHANGELOG.md do not agree.
set -eu
python=${PYTHON:-.venv/bin/python}
case "$python" in /*) ;; *) python=$(pwd)/$python ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
refuse() { echo "no release: $1" >&2; exit 1; }

version=${VERSION:-}
[ -n "$version" ] || refuse "say which version, as in make release VERSION=0.2.0"
[ -z "$(git status --porcelain)" ] || refuse "commit or remove what git status shows first"
declared=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
[ "$declared" = "$version" ] || refuse "pyproject.toml says $declared, not $version"
grep -q "^VERSION = \"$version\"\$" src/memento/assets.py || refuse "src/memento/assets.py has another VERSION than $version"
for file in packaging/server.json packaging/bundle/manifest.json; do
    stale=$(sed -n 's/.*"version": "\(.*\)".*/\1/p' "$file" | grep -vx "$version" || true)
    [ -z "$stale" ] || refuse "$file has another version than $version"
done
grep -q "^## $version – [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]$" CHANGELOG.md || refuse "CHANGELOG.md has no line '## $version – YYYY-MM-DD'"
waiting=$(sed -n '/^## Unreleased/,/^## [0-9]/p' CHANGELOG.md | grep -c '^- ' || true)
[ "$waiting" = 0 ] || refuse "CHANGELOG.md has $waiting entries under Unreleased: move them under $version"
! git rev-parse --quiet --verify "refs/tags/v$version" > /dev/null || refuse "the tag v$version is there already"

rm -rf dist
"$python" -m build --no-isolation --outdir dist . > /dev/null
"$python" -m twine check --strict dist/*.whl dist/*.tar.gz
PYTHON=$python sh tests/wheel.sh
"$python" packaging/bundle.py dist
cp packaging/server.json dist/
git tag --annotate "v$version" --message "Memento $version"
echo "tagged v$version; dist/ has what to upload"
