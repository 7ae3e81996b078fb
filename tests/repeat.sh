#!/bin/sh
# Runs the tests RUNS times beside BUSY loops that keep a core busy each, and prints a line for each run: passed, failed, minutes, and the
# tests that failed. Ends with 1 if a run failed. TESTS are the files and options for pytest, or everything; what a run printed is in LOGS.
# Called by `make repeat`.
set -u
runs=${RUNS:-10} busy=${BUSY:-0} python=${PYTHON:-.venv/bin/python} logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"

export OWNER=$$
loops=""
end_loops() {
  for loop in $loops; do kill "$loop" 2> /dev/null; done
}
trap end_loops EXIT
trap 'exit 130' INT TERM HUP
while [ "$busy" -gt 0 ]; do
  # Ends with this script, however that ends.
  "$python" -c 'import os
while os.getppid() == int(os.environ["OWNER"]): pass' &
  loops="$loops $!" busy=$((busy - 1))
done

red=0 run=1
while [ "$run" -le "$runs" ]; do
  begin=$(date +%s) log=$logs/$run.log
  # shellcheck disable=SC2086  # several words
  "$python" -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder ${TESTS:-} > "$log" 2>&1
  code=$?
  [ "$code" -eq 0 ] || red=$((red + 1))
  passed=$(tail -n 1 "$log" | grep -o '[0-9]* passed') failed=$(tail -n 1 "$log" | grep -oE '[0-9]+ (failed|errors?)' | paste -sd ' ' -)
  minutes=$(awk "BEGIN { printf \"%.1f\", ($(date +%s) - $begin) / 60 }")
  echo "run $run: ${passed:-0 passed}, ${failed:-0 failed}, $minutes minutes, load $(cut -d ' ' -f 1 /proc/loadavg 2> /dev/null)$([ "$code" -eq 0 ] || echo ", code $code, $log")"
  grep -E '^(FAILED|ERROR) ' "$log" | cut -c 1-200
  run=$((run + 1))
done
echo "$((runs - red)) of $runs green"
[ "$red" -eq 0 ]
