#!/usr/bin/env bash
# Installs the agent's CLI with npm and puts it into the PATH of later steps: of the agent that the input agent or the settings name, at the
# version that this ralph is tested with, by the hashes of its lock file (agents), or at the one that install_agent names as NAME@VERSION.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
	echo "::error::$1"
	exit 2
}

case $INSTALL_AGENT in
true)
	name=${AGENT:-}
	# Of the settings of the checkout, which ralph prints with a key a line.
	[ -n "$name" ] || name=$("$RALPH" settings show | sed -n 's/^agent\.command: "\([^"]*\)".*/\1/p')
	version=
	;;
*)
	name=${INSTALL_AGENT%%@*} version=${INSTALL_AGENT#*@}
	[ "$version" != "$INSTALL_AGENT" ] || fail "input install_agent is \"$INSTALL_AGENT\"; allowed: true, false, or NAME@VERSION such as claude@2.1.329."
	;;
esac
name=${name:-claude}
case $INSTALL_AGENT/$name in true/*/*) exit 0 ;; esac # a program of the repository or of the runner
[ -d "$here/agents/$name" ] || fail "there is no known CLI for the agent \"$name\": install it in a step before, and leave install_agent out."
case $version in
*[!0-9A-Za-z.-]* | [!0-9]*) fail "input install_agent names the version \"$version\"; an exact one is wanted, such as 2.1.329." ;;
esac
package=$("$here/install-agent.sh" name "$name")
[ -z "$version" ] || package=${package%@*}@$version
command -v npm >/dev/null || fail "npm, which installs $package, is not on this runner: run actions/setup-node before, or install the agent in a step before."
dir=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}/ralph/agents/$name-${package##*@}
if ! [ -f "$dir/whole" ]; then
	rm -rf "$dir"
	"$here/install-agent.sh" "$name" "$dir" ${version:+"$version"} || fail "npm could not install $package: its own words are above."
	touch "$dir/whole" # an install that was cut off is begun anew
fi
echo "$dir/node_modules/.bin" >>"$GITHUB_PATH"
