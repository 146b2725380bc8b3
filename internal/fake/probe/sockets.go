//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// socketProbes reach for unix sockets.
var socketProbes = []probe{
	{unixSocket, "in a directory for all", forbidden, func(a *attempt) string { return dials("unix", a.Sockets...) }},
	{unixSocket, "by the root of another process", forbidden, func(a *attempt) string {
		for _, dir := range a.others() {
			for _, path := range a.Sockets {
				if seen := dials("unix", dir+"/root"+path); seen != "" {
					return seen
				}
			}
		}
		return ""
	}},
	{unixSocket, "without a file", forbidden, func(a *attempt) string { return dials("unix", "@"+a.Abstract) }},
	{unixSocket, "of an engine of containers", forbidden, func(*attempt) string {
		return dials("unix", "/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock",
			"/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private")
	}},
	{unixSocket, "of another box", forbidden, func(a *attempt) string {
		own, _ := filepath.EvalSymlinks("/run/ralph/egress/sock")
		list, err := os.ReadFile("/proc/net/unix")
		if err != nil {
			return ""
		}
		for line := range bytes.Lines(list) {
			fields := strings.Fields(string(line))
			if len(fields) > 7 && strings.HasPrefix(fields[7], a.Temp) && fields[7] != own {
				if seen := dials("unix", fields[7]); seen != "" {
					return seen
				}
			}
		}
		all, _ := filepath.Glob(a.Temp + "/*/*/sock")
		more, _ := filepath.Glob(a.Temp + "/*/*/*/sock")
		return dials("unix", append(all, more...)...)
	}},
}

// controlProbes are what has to be reached.
var controlProbes = []probe{
	{works, "write the worktree", byAgent, func(a *attempt) string {
		dir, _ := os.Getwd()
		return new(attempt).makes(dir)
	}},
	{works, "write its home", forbidden, func(*attempt) string { return new(attempt).makes(os.Getenv("HOME")) }},
	{works, "write temporary files", forbidden, func(*attempt) string { return new(attempt).makes(os.TempDir()) }},
	{works, "have its model answer", byAgent, func(a *attempt) string {
		base, bearer := os.Getenv("ANTHROPIC_BASE_URL"), os.Getenv("ANTHROPIC_API_KEY")
		_ = os.WriteFile(filepath.Join(a.Reports, "bearer"), []byte(base+" "+bearer), 0o666)
		return a.model(base, bearer)
	}},
	{works, "a server of its own", forbidden, func(*attempt) string { return own() }},
}
