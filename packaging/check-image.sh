# Runs the steps of packaging/Dockerfile without a container engine: each RUN, in a folder of their own instead of /, then the
# entrypoint, the health check, and a note that comes back through the port. What changes users is only printed.
#
#     make check-image                        about two minutes: it installs every dependency
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
file=$root/packaging/Dockerfile
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; wait; rm -rf "$work"' EXIT

mkdir -p "$work/shims" "$work/stage" "$work/data" "$work/cache"
for name in useradd chown; do
    printf '#!/bin/sh\necho "not run here: %s $*"\n' "$name" > "$work/shims/$name"
done
printf '#!/bin/sh\ncase " $* " in *" -o "*) echo "not run here: install $*" ;; *) exec /usr/bin/install "$@" ;; esac\n' > "$work/shims/install"
chmod +x "$work"/shims/*

VENV=$work/venv MEMENTO_HOME=$work/data XDG_CACHE_HOME=$work/cache ENGINE=$work/engine STAGE=$work/stage PORT=${PORT:-16366}
EXTRAS=${EXTRAS:-}
PIP_ARGUMENTS=${PIP_ARGUMENTS:-}  # the index of this machine decides which torch that is
PATH=$work/shims:$PATH
export VENV MEMENTO_HOME XDG_CACHE_HOME STAGE PORT EXTRAS PIP_ARGUMENTS PATH
unset PYTHONPATH

cp "$root"/dist/*.whl "$root/packaging/entrypoint.sh" "$STAGE"
# An instruction goes on over lines that end in a backslash; one file for each RUN.
awk -v folder="$work" '
    /^RUN / { count++; going = 1; sub(/^RUN /, "") }
    going { line = $0; more = sub(/\\$/, "", line); printf "%s%s", line, more ? " " : "\n" > (folder "/run-" count); going = more }
' "$file"
for step in "$work"/run-*; do
    echo "== RUN $(head -c 100 "$step") …"
    sh -eu "$step"
done

PATH=$VENV/bin:$PATH
export PATH
sed -n '/^HEALTHCHECK/,/CMD/s/^ *CMD //p' "$file" > "$work/health"
[ -s "$work/health" ] || { echo "the Dockerfile has no health check"; exit 1; }
echo "== ENTRYPOINT memento-entrypoint serve --port $PORT"
memento-entrypoint serve --host 0.0.0.0 --port "$PORT" > "$work/log" 2>&1 &
server=$!
tries=0
until sh "$work/health" 2> /dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] && kill -0 "$server" || { cat "$work/log"; exit 1; }
    sleep 0.5
done
echo "== healthy after $tries tries"
# From elsewhere, with the token; this machine would be let in without.
python3 - "$PORT" "$MEMENTO_HOME/client-token" <<'PYTHON'
import json, stat, sys, urllib.request
from pathlib import Path

port, file = sys.argv[1], Path(sys.argv[2])
assert stat.S_IMODE(file.stat().st_mode) == 0o600, oct(file.stat().st_mode)
head = {"Authorization": f"Bearer {file.read_text().strip()}", "Content-Type": "application/json"}
address = f"http://127.0.0.1:{port}/memory"
note = urllib.request.Request(f"{address}/notes", json.dumps({"content": "I live in Porto."}).encode(), head)
urllib.request.urlopen(note).read()
asked = urllib.request.Request(f"{address}/recall?query=Where+do+I+live", headers=head)
[first, *_] = json.load(urllib.request.urlopen(asked))["memories"]
assert "Porto" in first["content"], first
print("== a note came back:", first["content"])
PYTHON
echo "the image's steps are good"
