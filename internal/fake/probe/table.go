//go:build linux

package main

import "slices"

// The rows of the table in docs/security.md, in its order.
const (
	ownKey     = "a key in its own environment or arguments"
	othersKey  = "a key in the environment, arguments or open files of another process"
	memoryKey  = "a key in the memory of ralph"
	filesKey   = "a key in a file: ralph's places, the clone, what a core dump holds"
	kernelKey  = "a key in the kernel's keyrings, shared memory or queues"
	homeKeys   = "keys and logins in a home"
	bearerKey  = "the model, without the bearer of this turn"
	runnerFile = "read the runner's directories: the event, the job's token, command files, logins of the runner"
	runnerSet  = "write there"
	outside    = "write outside of the worktree"
	othersHome = "read or write the home of another: of the agent, the checks, the reviewer, the user"
	leftover   = "find what an earlier one has left: a process, a file, a server"
	gitDecides = "write what git goes by: hooks, configuration, where objects are"
	ralphs     = "write ralph's own: settings, journals, locks, its program"
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
	works      = "what it is to reach: the worktree, a home, files of its own, its model"
)

// probes are all that is tried.
var probes = slices.Concat(secretProbes, memoryProbes, runnerProbes, fileProbes, repositoryProbes, leftProbes,
	processProbes, systemProbes, networkProbes, socketProbes, controlProbes)
