//go:build linux

package main

import "slices"

// The rows of the table in docs/security.md, in its order.
const (
	ownKey     = "a key in its own environment or arguments"
	othersKey  = "a key in the environment, arguments or open files of another process"
	memoryKey  = "a key in the memory of ralph"
	filesKey   = "a key in a file of ralph's or of the clone, or in a core dump"
	kernelKey  = "keys in the kernel, shared memory"
	homeKeys   = "keys and logins in a home"
	bearerKey  = "the model, without the bearer of a turn"
	runnerFile = "read the runner's directories: event, tokens, command files"
	runnerSet  = "write the runner's directories"
	outside    = "write outside of the worktree"
	othersHome = "the home of another, or the tree of the checks"
	leftover   = "what an agent has left: a process, a file, a server"
	gitDecides = "write `.git/hooks`, `.git/config` and the like"
	ralphs     = "write ralph's settings, journals, locks or program"
	readTree   = "a reviewer that writes"
	signals    = "signals, priorities and limits of another process"
	tracing    = "trace another process, read its memory, its files or its environment"
	seeing     = "see which processes there are"
	terminal   = "type on ralph's terminal"
	system     = "devices, mounts, modules, settings of the kernel"
	privilege  = "more rights: setuid programs, capabilities, namespaces"
	tcp        = "a host or a port that is not allowed, by TCP"
	proxied    = "a host that is not allowed, by the proxy"
	datagrams  = "UDP, raw and other kinds of sockets"
	unixSocket = "unix sockets of this machine"
	works      = "what it is to reach"
)

// probes are all that is tried.
var probes = slices.Concat(secretProbes, kernelProbes, memoryProbes, runnerProbes, fileProbes, repositoryProbes,
	leftProbes, processProbes, systemProbes, networkProbes, socketProbes, controlProbes)
