# Fetches YASGUI from npm, and puts its script, its style sheet and the licences of all that they bundle where the page at /sparql takes
# them from. Run by hand for another version (`make yasgui`); the digests that it prints belong into NOTICE, where a test looks for them.
set -eu
version=${1:-4.6.2}
to=$(cd "$(dirname "$0")/../.." && pwd)/src/memento/interfaces/web/static/sparql
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
npm install --silent --ignore-scripts --no-audit --no-fund --no-save "@zazuko/yasgui@$version"
built=node_modules/@zazuko/yasgui/build
# The source map stays away: it is three times as long as the script, and a browser would ask for it.
sed '/^\/\/# sourceMappingURL=/d' "$built/yasgui.min.js" > "$to/yasgui.min.js"
sed 's/\/\*# sourceMappingURL=[^*]*\*\///' "$built/yasgui.min.css" > "$to/yasgui.min.css"

cat > licences.cjs <<'END'
const { existsSync, readdirSync, readFileSync } = require("fs");
const map = JSON.parse(readFileSync("node_modules/@zazuko/yasgui/build/yasgui.min.js.map"));
const found = map.sources.map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1]).filter(Boolean);
const MIT = readFileSync("node_modules/base64-js/LICENSE", "utf8").split("\n").slice(4).join("\n");
for (const name of ["@zazuko/yasgui", ...new Set([...found, "datatables.net-dt"].sort())]) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`));
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.(md|txt))?$/i.test(name));
  const text = file ? readFileSync(`${folder}/${file}`, "utf8") : `The MIT License (MIT)\n\n${MIT}`;
  console.log(`${"=".repeat(80)}\n${name} ${version} (${license ?? "see below"})\n\n${text.replace(/\r/g, "").trim()}\n`);
}
END
node licences.cjs > "$to/licences.txt"
cd "$to"
sha256sum yasgui.min.js yasgui.min.css
