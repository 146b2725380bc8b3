#!/bin/sh
# Installs the real agent CLIs, as host/agents locks them, into .tools at the root of the repository, and
# prints the path of each one's executable. What is there already is not fetched again. Of what cannot be had, standard error says
# why, and the exit code is 1; the others are installed all the same.
#
#	install-agents.sh [claude|codex|gemini|opencode|amp]...	(all when none is named)
#
# The CLIs but gemini are native programs: a warning that they want a newer Node means nothing. gemini gets its Node beside it.
set -u
limit=300 # seconds for one CLI
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- claude codex gemini opencode amp

bounded() {
	if command -v timeout >/dev/null; then timeout "$limit" "$@"; else "$@"; fi
}

# fetch NAME DIR: into a directory of its own first, so that DIR is whole or not there, whoever else installs.
fetch() {
	fresh=$2.$$
	rm -rf "$2"
	bounded "$root/host/install-agent.sh" download "$1" "$fresh" </dev/null >&2 &&
		{ [ "$1" != gemini ] || bounded npm install --no-save --no-fund --no-audit --loglevel=error --prefix "$fresh" node@22 </dev/null >&2; } &&
		bounded "$root/host/install-agent.sh" prepare "$1" "$fresh" </dev/null >&2 &&
		{ [ -e "$2" ] || mv "$fresh" "$2"; }
	rm -rf "$fresh"
	[ -x "$2/node_modules/.bin/$1" ]
}

failed=0
for name; do
	[ -d "$root/host/agents/$name" ] || { echo "install-agents: there is no agent $name here" >&2; exit 2; }
	package=$("$root/host/install-agent.sh" name "$name")
	dir=$root/.tools/$name-${package##*@}
	if [ -x "$dir/node_modules/.bin/$name" ] || { command -v npm >/dev/null && fetch "$name" "$dir"; }; then
		echo "$dir/node_modules/.bin/$name"
	elif ! command -v npm >/dev/null; then
		echo "install-agents: $name is not installed: npm is missing" >&2
		failed=1
	else
		echo "install-agents: $name is not installed: npm could not install $package, or it does not run here" >&2
		failed=1
	fi
done
exit $failed
