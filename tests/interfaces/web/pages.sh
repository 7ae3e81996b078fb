# Fetches htmx, Cytoscape and axe-core from npm: the first two and their licences go where the pages take them from, the last to the
# tests. Run by hand for other versions (`make pages-files`); the digests that it prints belong into NOTICE, where a test looks for them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=$(cd "$here/../../.." && pwd)/src/memento/interfaces/web/static/pages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
npm install --silent --ignore-scripts --no-audit --no-fund --no-save htmx.org@2.0.11 cytoscape@3.34.4 axe-core@4.14.1
cp node_modules/htmx.org/dist/htmx.min.js node_modules/cytoscape/dist/cytoscape.min.js "$to"
cp node_modules/axe-core/axe.min.js "$here"
{
  printf 'htmx 2.0.11 (0BSD)\n\n'
  cat node_modules/htmx.org/LICENSE
  printf '\n%s\n\ncytoscape 3.34.4 (MIT)\n\n' "================================================================================"
  cat node_modules/cytoscape/LICENSE
} > "$to/licences.txt"
cd "$to"
sha256sum htmx.min.js cytoscape.min.js
