#!/bin/sh
# Installs the real claude CLI, at the version the end-to-end tests are written for, into DIR (.tools/claude at the root of the
# repository when none is given) and prints the path of its executable. The executable is native: a warning that it wants a newer Node
# means nothing.
set -eu
version=2.1.329
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$root/.tools/claude}
bin=$dir/node_modules/.bin/claude
if ! [ -x "$bin" ] || ! "$bin" --version 2>/dev/null | grep -q "^$version "; then
	mkdir -p "$dir"
	npm i --no-fund --no-audit --no-save --loglevel=error --prefix "$dir" "@anthropic-ai/claude-code@$version" >&2
	"$bin" --version >/dev/null
fi
echo "$bin"
