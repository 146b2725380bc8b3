#!/bin/sh
# Installs the real agent CLIs, at the versions the end-to-end tests are written for, into .tools at the root of the repository, and
# prints the path of each one's executable. What is there already is not fetched again. Of what cannot be had, standard error says
# why, and the exit code is 1; the others are installed all the same.
#
#	install-agents.sh [claude|codex|gemini|opencode|amp]...	(all when none is named)
#
# The CLIs but gemini are native programs: a warning that they want a newer Node means nothing. gemini gets its Node beside it.
set -u
limit=300 # seconds for one CLI
tools=$(cd "$(dirname "$0")/.." && pwd)/.tools
[ $# -gt 0 ] || set -- claude codex gemini opencode amp

packages() {
	case $1 in
	claude) echo @anthropic-ai/claude-code@2.1.329 ;;
	codex) echo @openai/codex@0.169.0 ;;
	gemini) echo @google/gemini-cli@0.61.0 node@22 ;;
	opencode) echo opencode-ai@1.18.33 ;;
	amp) echo @ampcode/cli@0.0.1790142911-g7618fb ;;
	*) return 1 ;;
	esac
}

bounded() {
	if command -v timeout >/dev/null; then timeout "$limit" "$@"; else "$@"; fi
}

# fetch NAME DIR PACKAGE...: into a directory of its own first, so that DIR is whole or not there, whoever else installs.
fetch() {
	name=$1 dir=$2 fresh=$2.$$
	shift 2
	[ -x "$dir/node_modules/.bin/$name" ] || rm -rf "$dir"
	mkdir -p "$fresh" &&
		bounded npm i --no-fund --no-audit --no-save --loglevel=error --fetch-retries=1 --prefix "$fresh" "$@" </dev/null >&2 &&
		HOME=$fresh PATH=$fresh/node_modules/.bin:$PATH bounded "$fresh/node_modules/.bin/$name" --version </dev/null >/dev/null &&
		{ [ -e "$dir" ] || mv "$fresh" "$dir"; }
	rm -rf "$fresh"
	[ -x "$dir/node_modules/.bin/$name" ]
}

failed=0
for name; do
	wanted=$(packages "$name") || { echo "install-agents: there is no agent $name here" >&2; exit 2; }
	first=${wanted%% *}
	dir=$tools/$name-${first##*@}
	if [ -x "$dir/node_modules/.bin/$name" ] || { command -v npm >/dev/null && fetch "$name" "$dir" $wanted; }; then
		echo "$dir/node_modules/.bin/$name"
	elif ! command -v npm >/dev/null; then
		echo "install-agents: $name is not installed: npm is missing" >&2
		failed=1
	else
		echo "install-agents: $name is not installed: npm could not install $wanted, or it does not run here" >&2
		failed=1
	fi
done
exit $failed
