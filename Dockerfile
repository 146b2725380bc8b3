# The base images are pinned by version tag. Pinning them by digest is better; whoever publishes this adds it behind the tag:
#   FROM golang:1.26.8-bookworm@sha256:... AS build
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
# go build downloads what the binary needs; go mod download would fetch the modules of every test too, which are twice as many bytes.
COPY go.mod go.sum ./
COPY cmd cmd
COPY internal internal
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ralph ./cmd/ralph

FROM node:22.23.3-bookworm-slim
# What ralph itself needs, bubblewrap for runners that let a container use it, and make. Checks that need more run with host/action.yml, or in an image made from this one.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git make \
    && rm -rf /var/lib/apt/lists/*
# Coding agents, as npm packages with exact versions; several are separated by spaces, none is the empty string.
ARG AGENT_CLIS="@anthropic-ai/claude-code@2.1.329"
RUN if [ -n "${AGENT_CLIS}" ]; then npm install --global --no-fund --no-audit ${AGENT_CLIS} && npm cache clean --force; fi
# The harness is root, since the runner mounts the workspace so; the agent and the checks are this user, who cannot read root's /proc.
RUN useradd --create-home --uid 10001 --shell /bin/bash ralph-agent
ENV RALPH_AGENT_USER=ralph-agent
COPY LICENSE THIRD_PARTY_NOTICES /usr/share/doc/ralph/
COPY --from=build /out/ralph /usr/local/bin/ralph
ENTRYPOINT ["/usr/local/bin/ralph", "action"]
