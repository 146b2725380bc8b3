# The images of ralph, one a target:
#
#	ralph          ralph, git, bubblewrap and make; no agent
#	ralph-<agent>  the same with the CLI of one agent
#	ralph-full     every agent, and toolchains: Go, Node, Python, Java, Rust
#
# The last target is the one that action.yml builds where it names this file. Bases are pinned by version here; the release workflow puts the
# digests behind them that it finds, by these arguments.
ARG GO_IMAGE=golang:1.26.8-bookworm
ARG NODE_IMAGE=node:22.23.3-bookworm-slim
ARG RUST_IMAGE=rust:1.90.0-slim-bookworm
ARG BASE_IMAGE=debian:12.12-slim

FROM ${GO_IMAGE} AS build
WORKDIR /src
# go build downloads what the binary needs; go mod download would fetch the modules of every test too, which are twice as many bytes.
COPY go.mod go.sum ./
COPY cmd cmd
COPY internal internal
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/ralph ./cmd/ralph

FROM ${BASE_IMAGE} AS ralph
# What ralph itself needs, bubblewrap for runners that let a container use it, and make. Checks that need more run with host/action.yml, in
# ralph-full, or in an image made from this one. What nobody reads in an image is left out: lists, caches, documentation, translations.
RUN printf 'path-exclude=/usr/share/%s/*\n' doc man info locale >/etc/dpkg/dpkg.cfg.d/slim \
    && apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git make \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/dpkg.log /var/log/apt /usr/share/man /usr/share/locale /usr/share/info
# The harness is root, since the runner mounts the workspace so; the agent and the checks are this user, who cannot read root's /proc.
RUN useradd --create-home --uid 10001 --shell /bin/bash ralph-agent
ENV RALPH_AGENT_USER=ralph-agent
ENV PATH=/opt/agents/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ARG VERSION=dev
LABEL org.opencontainers.image.title=ralph \
    org.opencontainers.image.description="Turns a GitHub issue into a reviewed pull request." \
    org.opencontainers.image.source=https://github.com/ralph-loop/ralph \
    org.opencontainers.image.licenses=Apache-2.0 \
    org.opencontainers.image.version=${VERSION}
COPY LICENSE THIRD_PARTY_NOTICES /usr/share/doc/ralph/
COPY --from=build /out/ralph /usr/local/bin/ralph
ENTRYPOINT ["/usr/local/bin/ralph", "action"]

# The CLIs as the lock files of host/agents say, each with no more than it runs with. No code of theirs runs while there is a network.
FROM ${NODE_IMAGE} AS npm
COPY host/agents /build/agents
COPY host/install-agent.sh host/image-agent.sh /build/
FROM npm AS claude-cli
RUN /build/install-agent.sh download claude /opt/agents/claude
RUN --network=none /build/install-agent.sh prepare claude /opt/agents/claude && /build/image-agent.sh claude
FROM npm AS codex-cli
RUN /build/install-agent.sh download codex /opt/agents/codex
RUN --network=none /build/install-agent.sh prepare codex /opt/agents/codex && /build/image-agent.sh codex
FROM npm AS gemini-cli
RUN /build/install-agent.sh download gemini /opt/agents/gemini
RUN --network=none /build/install-agent.sh prepare gemini /opt/agents/gemini && /build/image-agent.sh gemini
FROM npm AS opencode-cli
RUN /build/install-agent.sh download opencode /opt/agents/opencode
RUN --network=none /build/install-agent.sh prepare opencode /opt/agents/opencode && /build/image-agent.sh opencode
FROM npm AS amp-cli
RUN /build/install-agent.sh download amp /opt/agents/amp
RUN --network=none /build/install-agent.sh prepare amp /opt/agents/amp && /build/image-agent.sh amp

FROM ralph AS ralph-codex
COPY --from=codex-cli /opt/agents /opt/agents
FROM ralph AS ralph-gemini
COPY --from=gemini-cli /opt/agents /opt/agents
FROM ralph AS ralph-opencode
COPY --from=opencode-cli /opt/agents /opt/agents
FROM ralph AS ralph-amp
COPY --from=amp-cli /opt/agents /opt/agents

FROM ${RUST_IMAGE} AS rust
FROM ${GO_IMAGE} AS go
FROM ${NODE_IMAGE} AS node
FROM ralph AS ralph-full
RUN apt-get update \
    && apt-get install --yes --no-install-recommends curl g++ maven openjdk-17-jdk-headless pkg-config python3 python3-pip python3-venv unzip \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt
COPY --from=go /usr/local/go /usr/local/go
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=node /usr/local/bin /usr/local/bin
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
COPY --from=claude-cli /opt/agents /opt/agents
COPY --from=codex-cli /opt/agents /opt/agents
COPY --from=gemini-cli /opt/agents /opt/agents
COPY --from=opencode-cli /opt/agents /opt/agents
COPY --from=amp-cli /opt/agents /opt/agents
ENV RUSTUP_HOME=/usr/local/rustup
ENV PATH=/opt/agents/bin:/usr/local/go/bin:/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

FROM ralph AS ralph-claude
COPY --from=claude-cli /opt/agents /opt/agents
