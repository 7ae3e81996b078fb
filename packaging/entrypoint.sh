#!/bin/sh
# Runs `memento` in a container. A port that others reach takes a token: where there is none, `serve` makes one first and keeps it
# in the volume, in a file that the owner alone may read. It is never printed, as logs are kept elsewhere. Of several nodes one makes
# it, and the others have its tokens: TOKENS_FROM names the file, which may be made while they wait.
set -eu
umask 077
if [ "${1:-}" = serve ] && [ -n "${TOKENS_FROM:-}" ]; then
    until [ -f "$TOKENS_FROM" ]; do sleep 1; done
    ln -sf "$TOKENS_FROM" "$MEMENTO_HOME/tokens.json"
elif [ "${1:-}" = serve ] && [ "$(memento token list --json)" = "[]" ]; then
    memento token create container --scope write > "$MEMENTO_HOME/client-token"
    echo "a token for clients is in $MEMENTO_HOME/client-token" >&2
fi
exec memento "$@"
