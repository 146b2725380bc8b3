#!/bin/sh
# Makes the corpus anew: installs the tools (Debian, npm), then runs gen, which breaks the projects of gen/projects and records what their
# commands print. Meant for a container: it installs packages as root and writes under /home/dev, /srv/ci, /tmp/xyz, /builds, /var/lib/jenkins
# and /w. Arguments are gen's: -only pytest/cart makes one project again.
set -eu
cd "$(dirname "$0")/../.."

npm=/opt/failures/npm
if ! [ -d "$npm/jest" ]; then
	apt-get update -q
	apt-get install -y -q --no-install-recommends bsdutils make gcc g++ shellcheck faketime rustc cargo default-jdk-headless \
		python3-pytest python3-pytest-xdist python3-pytest-random-order python3-flake8
	for package in jest@29 vitest@2 mocha@10 typescript@5 eslint@9; do
		mkdir -p "$npm/${package%@*}"
		npm install --prefix "$npm/${package%@*}" --no-audit --no-fund "$package"
	done
fi
if ! [ -d "$npm/ava" ]; then
	apt-get install -y -q --no-install-recommends ansible-lint bats clang libclang-rt-14-dev cmake cppcheck elixir erlang-dev \
		erlang-eunit gfortran lua-busted mypy ocaml-dune ocaml-nox perl phpunit pylint rubocop ruby-minitest ruby-rspec yamllint
	# The first word is the directory, which is entered: npm takes a directory below it for a package of that name.
	while read -r dir packages; do
		mkdir -p "$npm/$dir"
		echo '{ "private": true }' >"$npm/$dir/package.json"
		(cd "$npm/$dir" && npm install --no-audit --no-fund $packages)
	done <<-END
		ava ava@6
		biome @biomejs/biome@2
		esbuild esbuild@0.28
		jasmine jasmine@7
		oxlint oxlint@1
		playwright @playwright/test@1
		prettier prettier@3
		qunit qunit@3
		rollup rollup@4
		standard standard@17
		stylelint stylelint@16
		vite vite@8
		webpack webpack@5 webpack-cli
	END
	for tool in gotest.tools/gotestsum@v1.13.0 github.com/mgechev/revive@v1.12.0 honnef.co/go/tools/cmd/staticcheck@v0.8.2 \
		github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 mvdan.cc/sh/v3/cmd/shfmt@v3.14.1; do
		GOBIN=/opt/failures/bin go install "$tool"
	done
fi
go run ./testdata/failures/gen "$@"
