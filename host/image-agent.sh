#!/bin/sh
# Moves one agent's CLI, which install-agent.sh put into /opt/agents/NAME of an image that is being built, to /opt/agents/bin, and keeps no more
# of it than it runs with: most are native programs that need neither npm nor Node.
#
#	image-agent.sh NAME
set -eu
name=$1
dir=/opt/agents/$name bin=/opt/agents/bin
mkdir -p "$bin"
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
