#!/bin/sh
# Installs the CLI of one agent with npm, as agents/NAME says: each package is held to the hash of its lock file, and the only install script
# that runs is the one that its package.json names, without this environment's variables.
#
#	install-agent.sh NAME DIR [VERSION]	DIR/node_modules/.bin/NAME; what VERSION consists of, no lock file says
#	install-agent.sh download NAME DIR [VERSION]	the first half, which needs the network and runs nothing that it fetched
#	install-agent.sh prepare NAME DIR	the second half, which needs no network
#	install-agent.sh name NAME		its package and version, such as @openai/codex@0.169.0
set -eu
case $1 in download | prepare | name) step=$1 && shift ;; *) step=both ;; esac
name=$1 dir=${2:-} version=${3:-}
here=$(cd "$(dirname "$0")" && pwd)/agents/$name
package=$(sed -n '/"dependencies"/,$s/^ *"\(.*\)": "\(.*\)"$/\1@\2/p' "$here/package.json")

case $step in
name) echo "$package" ;;
download | both)
	mkdir -p "$dir"
	cp "$here/package.json" "$here/package-lock.json" "$dir"
	cd "$dir"
	npm install --ignore-scripts --no-save --no-fund --no-audit --loglevel=error --fetch-retries=1 ${version:+"${package%@*}@$version"} >&2
	[ -n "$version" ] || LOCK=$here/package-lock.json node -e '
		const lock = require(process.env.LOCK).packages, installed = require("./node_modules/.package-lock.json").packages;
		const strange = Object.keys(installed).filter(at => !lock[at]?.integrity || lock[at].integrity !== installed[at].integrity);
		if (strange.length) {
			console.error(`install-agent: ${process.env.LOCK} has no hash of ${strange.join(", ")}: write it anew on this kind of machine, or name a version`);
			process.exit(1);
		}'
	;;
esac
case $step in
prepare | both)
	cd "$dir"
	clean() { env -i PATH="$PWD/node_modules/.bin:$PATH" HOME="$PWD/home" SYSTEMROOT="${SYSTEMROOT:-}" "$@"; }
	mkdir -p home
	clean npm run --silent --if-present --no-update-notifier postinstall >&2
	clean "$name" --version >/dev/null # it starts
	rm -rf home
	;;
esac
