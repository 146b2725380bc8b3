VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
PREFIX        ?= /usr/local
GOLANGCI_LINT  = v2.15.0
ACT            = v0.2.89
TOOLS         := $(CURDIR)/.tools
E2E           ?= $(sort $(dir $(shell grep -rl --include='*_test.go' '^//go:build e2e' ./internal ./cmd)))
RUN           ?= .

.PHONY: all build test every lint shape shape-update fmt bench demo e2e install clean

all: build lint test

build: ## bin/ralph
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ralph ./cmd/ralph

test: # make lint vets; tests wait for processes more than they compute
	go test -vet=off -parallel 4 -timeout 20m ./...

every: ## every call of the bot with every fault, a kill on both sides of every write, 500 at random moments, every story: what make test does a part of
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -timeout 40m -run 'TestEveryCallMeetsEveryFault|Killed|TestPeopleAreTold|TestWhoEditedThePlan|TestNeverDoneWhenItIsNot|TestDoneWhenItIs' ./internal/bot
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -run TestPlanListReadsBack ./internal/report
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -run TestWhateverTheAgentDoesWithGit ./internal/git
	RALPH_TEST_EVERY_FAULT=1 go test -count=1 -timeout 60m -parallel 4 -run 'TestKilledAtAnyMoment|TestWhateverAnAgentDoesWithGit|TestRepositoryGone|TestChecksJudgeTheCommitOfABot|TestScripts' ./cmd/ralph

lint: $(TOOLS)/golangci-lint-$(GOLANGCI_LINT)
	$< run

shape: ## lengths of packages, functions and lines, circles of files: fails when a figure is worse than recorded
	go run ./internal/shape

shape-update: ## records the figures: make shape-update REASON="why the totals have changed"
	go run ./internal/shape -update "$(REASON)"

fmt: $(TOOLS)/golangci-lint-$(GOLANGCI_LINT)
	$< fmt

bench:
	go test -run '^$$' -bench . -benchmem ./...

demo: build ## one run against a stand-in for GitHub and a scripted agent
	CGO_ENABLED=0 go run -trimpath ./internal/fake/demo -ralph bin/ralph # the flags of build, so that nothing is compiled twice

e2e: build $(TOOLS)/act-$(ACT) ## with the real agents, the real runner and the real image, as far as they can be had here
	RALPH_E2E_ACT="$(TOOLS)/act-$(ACT)" go test -tags e2e -count=1 -timeout 9m -parallel 8 -v -run "$(RUN)" $(E2E:%/=%)

install: build
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 0755 bin/ralph "$(DESTDIR)$(PREFIX)/bin/ralph"

clean:
	rm -rf bin dist coverage.out

# Tools carry their version in their name, so that a raised version is installed anew.
$(TOOLS)/golangci-lint-$(GOLANGCI_LINT):
	GOBIN="$(TOOLS)" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)
	mv "$(TOOLS)/golangci-lint" "$@"

$(TOOLS)/act-$(ACT):
	GOBIN="$(TOOLS)" go install github.com/nektos/act@$(ACT)
	mv "$(TOOLS)/act" "$@"
