#!/usr/bin/env bash
# Prints how long a new clone of the last commit takes until its first answer, and how long each step takes, with an empty npm
# cache. In a system without the packages of the set-up, as root with debootstrap:
#   COMMAND='bash test/install/first-answer.sh' .ci/run --root debian12
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
finish() {
  [[ -z ${service:-} ]] || kill "$service" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap finish EXIT
milliseconds() { date +%s%3N; }
report() { awk -v name="$1" -v ms="$2" 'BEGIN { printf "%s: %.1f s\n", name, ms / 1000 }'; }

from=$(milliseconds)
git clone --quiet --no-local . "$work/undertone"
cd "$work/undertone"
report 'git clone' $(($(milliseconds) - from))
export npm_config_cache=$work/npm UNDERTONE_PORT=0 UNDERTONE_DATA_DIR=$work/data
touch "$work/out"
npm start >"$work/out" 2>"$work/err" </dev/null &
service=$!
until grep -q '^listening on http://' "$work/out"; do
  kill -0 "$service" || { cat "$work/out" "$work/err"; exit 1; }
  sleep 0.05
done
node --input-type=module - "$work/out" "$work/err" <<'PROGRAM'
import { readFileSync } from 'node:fs';
const output = process.argv.slice(2).map((file) => readFileSync(file, 'utf8')).join('');
const [, token] = /Bearer ([\w-]+)/.exec(output);
const [, url] = /listening on (http:\S+)/.exec(output);
const body = new FormData();
body.append('audio', new Blob([readFileSync('examples/sample.wav')]));
const headers = { Authorization: `Bearer ${token}` };
const { status } = await (await fetch(`${url}/v1/analyze`, { method: 'POST', headers, body })).json();
if (status !== 'ok') throw new Error(`Expected a report, got the status ${status}`);
PROGRAM
sed -n 's/^undertone: \(.*\): done in \(.*\)$/\1: \2/p' "$work/err" | sed 's/ (.*):/:/'
report 'git clone to first answer' $(($(milliseconds) - from))
