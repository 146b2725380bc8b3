VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
PREFIX        ?= /usr/local
GOLANGCI_LINT  = v2.15.0
ACT            = v0.2.89
CRANE          = v0.22.1
SVG_TERM       = 2.1.1
GOVULNCHECK    = v1.9.0
GORELEASER     = v2.16.0
SYFT           = v1.50.0
COSIGN         = v3.1.3
TOOLS         := $(CURDIR)/.tools
E2E           ?= $(sort $(dir $(shell grep -rl --include='*_test.go' '^//go:build .*e2e' ./internal ./cmd)))
RUN           ?= .
SKIP          ?= ^$$
FUZZTIME      ?= 10s
FUZZ          ?= .

# Build, tests, and what the tests build share these, so that nothing is compiled twice.
export CGO_ENABLED = 0
export GOFLAGS = -trimpath

.PHONY: all help build test every lint systems ceilings fmt bench bench-loops fuzz demo pictures recording site site-build messages e2e notices vulnerabilities install clean release-build release-rehearsal rehearsal

all: build lint test ## build, lint and test: what a change has to pass

help: ## show these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## build bin/ralph
	@echo '$(or $(SAYS),Building bin/ralph): about 2 minutes on 2 cores the first time, when the Go modules are compiled too; then $(or $(THEN),a few seconds)'
	go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ralph ./cmd/ralph

test: ## run the tests, in 4 to 15 minutes on two cores: they start some 60,000 processes
	@echo "make test: runs ralph's tests, in 4 minutes on two fast cores, 15 in a slow virtual machine, and 3 more to compile them the first time"
	@go run ./internal/fake/suite $(SUITE) -vet=off -ldflags='-s -w' -timeout 30m ./...

every: ## run every fault, every kill, every story and every judged piece of work, of which test runs a part
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -timeout 60m ./internal/bot
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -timeout 20m -run TestKilledAnywhere ./internal/launch
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -run 'TestLeaseRace|TestHostileLease' ./internal/lease
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -run TestPlanListReadsBack ./internal/report/planlist
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -timeout 60m ./internal/git ./internal/check ./internal/proc ./internal/files
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -timeout 40m -run 'TestRalphOnRalph|TestExamplesOfContributing' ./internal
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -timeout 60m -parallel 4 ./internal/judged
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -timeout 90m -parallel 4 ./cmd/ralph

lint: $(TOOLS)/golangci-lint-$(GOLANGCI_LINT) ## lint; fetches the linter once
	$< run
	cd bench && $< run

systems: ## check that ralph compiles for other systems that releases have
	go run ./internal/fake/systems darwin/arm64 windows/amd64

ceilings: ## write down what has fallen: lines of code, hits of the style guide, circles of files, methods, fields
	RALPH_LOWER_CEILINGS=1 go test -vet=off -count=1 -run 'TestCodeLines|TestStyle|TestShape' ./internal

fmt: $(TOOLS)/golangci-lint-$(GOLANGCI_LINT) ## format the code
	$< fmt

bench: ## run the benchmarks of docs/internals/benchmarks.md
	go test -run '^$$' -bench . -benchmem ./...

bench-loops: build ## play ralph and other loops on 40 bugs with scripted agents; takes hours, and plays only what its results lack
	cd bench && go test -timeout 60m ./... && go run . $(LOOPS)

fuzz: ## fuzz every target for FUZZTIME=10s, one after another; FUZZ=Lease only those called so
	FUZZTIME='$(FUZZTIME)' FUZZ='$(value FUZZ)' .ci/fuzz

demo: SAYS = Building bin/ralph, then playing two runs with scripted agents and a stand-in for GitHub
demo: THEN = about 15 seconds
demo: build ## show two runs, with a stand-in for GitHub and scripted agents
	go run ./internal/fake/demo -ralph bin/ralph

pictures: build ## make the pictures of README and docs anew: the demo's comment and report, in Chromium
	go run ./internal/fake/demo -ralph bin/ralph -keep bin/demo
	RALPH_PICTURES="$(CURDIR)/bin/demo" go test -tags e2e -count=1 -run TestPictures ./internal/e2e

e2e: build $(TOOLS)/act-$(ACT) ## test with real agents, the real runner and the real image, as far as they are here
	RALPH_E2E_ACT="$(TOOLS)/act-$(ACT)" go test -tags e2e -vet=off -count=1 -timeout 40m -p 1 -parallel 4 -v -run "$(RUN)" -skip "$(SKIP)" $(E2E:%/=%)

recording: build ## record the terminal of docs/laptop.md anew; needs asciinema (Debian has it) and npm
	@command -v asciinema >/dev/null || { echo "asciinema is missing: apt-get install asciinema" >&2; exit 2; }
	RALPH="$(CURDIR)/bin/ralph" TERM=xterm-256color asciinema rec -q --overwrite --cols 100 --rows 30 -c internal/fake/demo/recording.sh bin/recording.cast
	npm exec --yes --package=svg-term-cli@$(SVG_TERM) -- svg-term --in bin/recording.cast --out docs/images/recording.svg --window

site: site-build ## build the documentation as a site, into docs/.vitepress/dist, and check its links
	cd docs && npm run --silent check

site-build: docs/node_modules/.package-lock.json messages
	cd docs && npm run --silent build

docs/node_modules/.package-lock.json: docs/package-lock.json
	cd docs && npm ci --no-audit --no-fund && touch node_modules/.package-lock.json

messages: ## write the site's list of messages, docs/errors.md
	RALPH_UPDATE_MESSAGES=1 go test -count=1 -run TestMessagesAreListed ./internal

notices: ## write THIRD_PARTY_NOTICES anew, after a change of go.mod
	RALPH_UPDATE_NOTICES=1 go test -count=1 -run TestNotices ./internal

vulnerabilities: ## look for known ones in what ralph calls; asks vuln.go.dev
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK) ./cmd/ralph

install: SAYS = Building bin/ralph and installing it into $(DESTDIR)$(PREFIX)/bin
install: build ## install bin/ralph into PREFIX, by default /usr/local
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 0755 bin/ralph "$(DESTDIR)$(PREFIX)/bin/ralph"

release-build: $(TOOLS)/goreleaser-$(GORELEASER) $(TOOLS)/syft-$(SYFT) ## build what a release has, of the tag that is checked out, into dist/release
	PATH="$(TOOLS)/path:$$PATH" SYFT_CHECK_FOR_APP_UPDATE=false $< release --clean --skip=publish,sign
	.ci/release-gather dist/release

release-rehearsal: $(TOOLS)/goreleaser-$(GORELEASER) $(TOOLS)/syft-$(SYFT) $(TOOLS)/cosign-$(COSIGN) ## make a release that nobody gets, signed by a key of its own, and look at it
	.ci/release-rehearsal $<

rehearsal: release-rehearsal $(TOOLS)/act-$(ACT) $(TOOLS)/crane-$(CRANE) ## have a runner take such a release from a registry and a server on this machine, as its users do
	RALPH_E2E_ACT="$(TOOLS)/act-$(ACT)" RALPH_E2E_CRANE="$(TOOLS)/crane-$(CRANE)" RALPH_E2E_RELEASE="$(CURDIR)/dist/release" \
		go test -tags e2e -count=1 -timeout 40m -v -run TestRehearsal ./internal/e2e

clean: ## remove what the other targets have made
	rm -rf bin dist coverage.out docs/errors.md docs/.vitepress/dist docs/.vitepress/cache docs/node_modules

# Tools carry their version in their name, so that a raised version is installed anew.
$(TOOLS)/golangci-lint-$(GOLANGCI_LINT):
	GOBIN="$(TOOLS)" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)
	mv "$(TOOLS)/golangci-lint" "$@"

# goreleaser finds the others by their plain names.
$(TOOLS)/goreleaser-$(GORELEASER):
	GOBIN="$(TOOLS)" go install -ldflags '-s -w' github.com/goreleaser/goreleaser/v2@$(GORELEASER)
	mv "$(TOOLS)/goreleaser" "$@"

$(TOOLS)/syft-$(SYFT):
	GOBIN="$(TOOLS)" go install -ldflags '-s -w' github.com/anchore/syft/cmd/syft@$(SYFT)
	mv "$(TOOLS)/syft" "$@"
	mkdir -p "$(TOOLS)/path" && ln -sf "$@" "$(TOOLS)/path/syft"

$(TOOLS)/cosign-$(COSIGN):
	GOBIN="$(TOOLS)" go install -ldflags '-s -w' github.com/sigstore/cosign/v3/cmd/cosign@$(COSIGN)
	mv "$(TOOLS)/cosign" "$@"
	mkdir -p "$(TOOLS)/path" && ln -sf "$@" "$(TOOLS)/path/cosign"

$(TOOLS)/crane-$(CRANE):
	GOBIN="$(TOOLS)" go install -ldflags '-s -w' github.com/google/go-containerregistry/cmd/crane@$(CRANE)
	mv "$(TOOLS)/crane" "$@"

$(TOOLS)/act-$(ACT):
	GOBIN="$(TOOLS)" go install github.com/nektos/act@$(ACT)
	mv "$(TOOLS)/act" "$@"
