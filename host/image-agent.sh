#!/bin/sh
# Puts one agent's CLI into /opt/agents of an image that is being built, with npm, and keeps no more of it than it runs with: most are native
# programs that need neither npm nor Node.
#
#	image-agent.sh NAME
set -eu
name=$1
package=$(awk -v name="$name" '$1 == name { print $2 }' "$(dirname "$0")/agents.txt")
[ -n "$package" ] || { echo "image-agent: agents.txt has no agent $name" >&2; exit 2; }
dir=/opt/agents/$name bin=/opt/agents/bin
mkdir -p "$dir" "$bin"
npm install --prefix "$dir" --no-fund --no-audit --loglevel=error "$package"
program=$(readlink -f "$dir/node_modules/.bin/$name")
if [ "$(head -c 4 "$program" | tail -c 3)" = ELF ]; then
	mv "$program" "$bin/$name"
	rm -rf "$dir"
elif native=$(echo "$dir"/node_modules/@openai/codex-linux-*/vendor/*) && [ -x "$native/bin/$name" ]; then
	mv "$native" "$dir/native" # a directory of programs that belong together
	rm -rf "$dir/node_modules"
	ln -s "../$name/native/bin/$name" "$bin/$name"
else # written for Node, which goes with it
	ln -s "../$name/node_modules/.bin/$name" "$bin/$name"
	cp "$(command -v node)" "$bin/node"
fi
rm -rf "$dir"/package.json "$dir"/package-lock.json
HOME=/tmp PATH=$bin:$PATH "$bin/$name" --version
