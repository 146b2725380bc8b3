#!/bin/sh
# Makes the corpus anew: installs the tools (Debian, npm), then runs gen, which breaks the projects of gen/projects and records what their
# commands print. Meant for a container: it installs packages as root and writes under /home/dev, /srv/ci, /tmp/xyz, /builds, /var/lib/jenkins
# and /w. Arguments are gen's: -only pytest/cart makes one project again.
set -eu
cd "$(dirname "$0")/../.."

npm=/opt/failures/npm
if ! [ -d "$npm" ]; then
	apt-get update -q
	apt-get install -y -q --no-install-recommends bsdutils make gcc g++ shellcheck faketime rustc cargo default-jdk-headless \
		python3-pytest python3-pytest-xdist python3-pytest-random-order python3-flake8
	for package in jest@29 vitest@2 mocha@10 typescript@5 eslint@9; do
		mkdir -p "$npm/${package%@*}"
		npm install --prefix "$npm/${package%@*}" --no-audit --no-fund "$package"
	done
fi
go run ./testdata/failures/gen "$@"
