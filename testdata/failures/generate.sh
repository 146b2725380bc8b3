#!/bin/sh
# Makes the corpus anew: installs the tools (Debian, npm), then runs gen, which breaks the projects of gen/projects and records what their
# commands print. Meant for a container: it installs packages as root and writes under /home/dev, /srv/ci, /tmp/xyz, /builds, /var/lib/jenkins
# and /w. Arguments are gen's: -only pytest/cart makes one project again.
set -eu
cd "$(dirname "$0")/../.."

if ! [ -d /opt/failures/node_modules ]; then
	apt-get update -q
	apt-get install -y -q --no-install-recommends make gcc g++ shellcheck faketime bsdutils \
		python3-pytest python3-pytest-xdist python3-pytest-random-order python3-flake8 \
		rustc cargo default-jdk-headless maven junit4 ruby ruby-rspec phpunit php-xml php-mbstring
	mkdir -p /opt/failures
	npm install --prefix /opt/failures --no-audit --no-fund jest@29 vitest@2 mocha@10 typescript@5 eslint@9
fi
go run ./testdata/failures/gen "$@"
