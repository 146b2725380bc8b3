//go:build linux

package main

import (
	"os"
	"path/filepath"
)

// repository is the clone that a person has, or that an agent works in; empty where neither is seen.
func (a *attempt) repository() string {
	if a.Tree != "" {
		if !a.isReal(a.Tree + "/.git") {
			return ""
		}
		return a.Tree + "/.git"
	}
	if a.role == "check" || a.role == "setup" { // which have a tree of their own
		return ""
	}
	dir, _ := os.Getwd()
	return dir + "/.git"
}

func (a *attempt) inRepository(do func(git string) string) string {
	if git := a.repository(); git != "" {
		return do(git)
	}
	return ""
}

// repositoryProbes write what decides how git works for the next process, and what ralph goes by.
var repositoryProbes = []probe{
	{gitDecides, "a hook", forbidden, func(a *attempt) string {
		return a.inRepository(func(git string) string { return a.makes(git + "/hooks") })
	}},
	{gitDecides, "the configuration", forbidden, func(a *attempt) string {
		return a.inRepository(func(git string) string { return a.appends(git + "/config") })
	}},
	{gitDecides, "another repository in its place", forbidden, func(a *attempt) string {
		return a.inRepository(func(git string) string {
			if os.Rename(git, git+"2") != nil {
				return ""
			}
			_ = os.Rename(git+"2", git)
			return "renamed"
		})
	}},
	{gitDecides, "where else objects are", forbidden, func(a *attempt) string {
		return a.inRepository(func(git string) string { return a.makes(git + "/objects/info") })
	}},
	{gitDecides, "that it is another worktree's", forbidden, func(a *attempt) string {
		return a.inRepository(func(git string) string {
			path := filepath.Join(git, "commondir")
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return ""
			}
			f.Close()
			os.Remove(path)
			return path
		})
	}},
	{ralphs, "settings", inClone, func(a *attempt) string {
		return a.inRepository(func(git string) string { return a.appends(git + "/../.ralph/settings.json") })
	}},
	{ralphs, "settings that appear later", inClone, func(a *attempt) string {
		return a.inRepository(func(git string) string { return a.makes(git + "/../.ralph") })
	}},
	{ralphs, "the journal of the run", inClone, func(a *attempt) string {
		return a.inRepository(func(git string) string {
			all, _ := filepath.Glob(git + "/../.ralph/runs/*/journal.jsonl")
			return a.appends(all...)
		})
	}},
	{ralphs, "the lock of the clone", inClone, func(a *attempt) string {
		return a.inRepository(func(git string) string { return a.appends(git + "/../.ralph.lock") })
	}},
	{ralphs, "the hashes that seal journals", forbidden, func(a *attempt) string {
		all, _ := filepath.Glob(a.Home + "/.local/state/ralph/*")
		return a.appends(all...) + a.makes(append(all, a.Home+"/.local/state/ralph")...)
	}},
	{ralphs, "its program", forbidden, func(a *attempt) string {
		return a.appends(a.Base+"/bin/ralph", "/run/ralph/ralph") + a.makes(a.Base+"/bin")
	}},
	{ralphs, "its directory for temporary files", forbidden, func(a *attempt) string {
		all, _ := filepath.Glob(a.Temp + "/ralph-*")
		return a.makes(append(all, a.Temp)...)
	}},
}
