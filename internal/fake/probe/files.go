//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// fileProbes read and write what is not theirs.
var fileProbes = []probe{
	{runnerFile, "the event", everyone, finds("event", "$event", "$others/root$event")},
	{runnerFile, "the token that the checkout has left in .git/config", everyone, finds("checkout", "$workspace/.git/config")},
	{runnerFile, "the workspace", everyone, reads("$workspace/file.txt")},
	{runnerFile, "the token that the checkout has left in a file of its own", everyone, finds("included", "$steps")},
	{runnerFile, "files of other steps in RUNNER_TEMP", everyone, finds("step", "$steps")},
	{runnerFile, "the commands of this step and of others", everyone, finds("commands", "$commands")},
	{runnerFile, "the names of the command files", everyone, reads("$commands")},
	{runnerFile, "workspaces of other repositories", everyone, reads("$siblings/file.txt")},
	{runnerFile, "the login of the runner itself", everyone, finds("runner", "$top/.credentials", "$top/.runner",
		"$top/.credentials_rsaparams", "$top/_diag")},
	{runnerFile, "the home that the runner gives", everyone, finds("runnerhome", "$given")},
	{runnerSet, "the event", everyone, appends("$event")},
	{runnerSet, "RUNNER_TEMP", everyone, makes("$steps")},
	{runnerSet, "GITHUB_ENV", everyone, appends("$commands/set_env_1")},
	{runnerSet, "GITHUB_OUTPUT", everyone, appends("$commands/set_output_1")},
	{runnerSet, "GITHUB_PATH", everyone, appends("$commands/add_path_1")},
	{runnerSet, "GITHUB_STATE", everyone, appends("$commands/save_state_1")},
	{runnerSet, "GITHUB_STEP_SUMMARY", everyone, appends("$commands/step_summary_1")},
	{runnerSet, "a command file of its own", everyone, makes("$commands")},
	{runnerSet, "the workspace and its hooks", everyone, makes("$workspace", "$workspace/.git/hooks")},
	{runnerSet, "actions of later steps", everyone, makes("$steps/../_actions")},
	{runnerSet, "workspaces of other repositories", everyone, makes("$siblings")},
	{runnerSet, "the runner itself", everyone, makes("$top")},
	{runnerSet, "the home that the runner gives", everyone, makes("$given")},

	{outside, "a file beside the worktree", everyone, appends("$base/outside.txt")},
	{outside, "a new file beside the worktree", everyone, makes("$base")},
	{outside, "the mode of a file outside", everyone, anywhere(func(_ *attempt, path string) string {
		return done(os.Chmod(path, 0o666))
	}, "$base/outside.txt")},
	{outside, "the times of a file outside", everyone, anywhere(func(_ *attempt, path string) string {
		return done(unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}, 0))
	}, "$base/outside.txt")},
	{outside, "the attributes of a file outside", everyone, anywhere(func(_ *attempt, path string) string {
		return done(unix.Setxattr(path, "user.probe", []byte("x"), 0))
	}, "$base/outside.txt")},
	{outside, "by a link that it makes", everyone, linked(os.Symlink, "$tmp", "$base/outside.txt", "", (*attempt).openToAppend)},
	{outside, "by a hard link that it makes", everyone, linked(os.Link, "$own", "$base/outside.txt", "", (*attempt).openToAppend)},
	{outside, "by the root of another process", everyone, appends("$others/root$base/outside.txt")},
	{outside, "programs and settings of the system", everyone, func(a *attempt) string {
		return appends("/etc/passwd", "/etc/profile", "/etc/gitconfig", "/usr/bin/git", "/usr/bin/env")(a) +
			makes("/etc", "/etc/cron.d", "/usr/local/bin", "/usr/bin", "/var/spool/cron/crontabs")(a)
	}},
	{othersHome, "write a startup file of the user's shell", everyone, appends("$home/.bashrc")},
	{othersHome, "write the user's configuration of git", everyone, appends("$home/.gitconfig")},
	{othersHome, "write who may log in", everyone, makes("$home/.ssh")},
	{othersHome, "write the user's instructions for agents", everyone, makes("$home/.claude")},
	{othersHome, "write a program of the user's", everyone, func(a *attempt) string {
		return makes("$home/bin")(a) + appends("$home/bin/tool")(a)
	}},
	{othersHome, "write the user's caches", everyone, makes("$home/.cache", "$home/.cache/go-build")},
	{othersHome, "read the home of another", everyone, ofOthers(read, homes...)},
	{othersHome, "write the home of another", everyone, ofOthers((*attempt).makeFile, homes...)},
	{othersHome, "write the tree of the checks", agent, ofOthers((*attempt).makeFile, judging...)},
	{othersHome, "read the tree of the checks", agent, ofOthers(read, judging...)},
	{readTree, "write its checkout", reviewer, makes("$here")},
	{readTree, "write the worktree", reviewer, makes("$tree")},

	{gitDecides, "a hook", everyone, makes("$git/hooks")},
	{gitDecides, "the configuration", everyone, appends("$git/config")},
	{gitDecides, "another repository in its place", everyone, anywhere(func(_ *attempt, git string) string {
		if os.Rename(git, git+"2") != nil {
			return ""
		}
		_ = os.Rename(git+"2", git)
		return "renamed"
	}, "$git")},
	{gitDecides, "where else objects are", everyone, makes("$git/objects/info")},
	{gitDecides, "that it is another worktree's", everyone, anywhere(func(_ *attempt, git string) string {
		defer os.Remove(git + "/commondir")
		return open(os.O_WRONLY|os.O_CREATE|os.O_EXCL, git+"/commondir")
	}, "$git")},
	{ralphs, "settings", everyone, appends("$tree/.ralph/settings.json")},
	{ralphs, "settings that appear later", everyone, makes("$tree/.ralph")},
	{ralphs, "the journal of the run", everyone, appends("$tree/.ralph/runs/*/journal.jsonl")},
	{ralphs, "the lock of the clone", everyone, appends("$tree/.ralph.lock")},
	{ralphs, "the hashes that seal journals", everyone, func(a *attempt) string {
		return appends("$home/.local/state/ralph/*")(a) + makes("$home/.local/state/ralph/*", "$home/.local/state/ralph")(a)
	}},
	{ralphs, "its program", everyone, func(a *attempt) string {
		return appends("$base/bin/ralph", "/run/ralph/ralph")(a) + makes("$base/bin")(a)
	}},
	{ralphs, "its directory for temporary files", everyone, makes("$temp/ralph-*", "$temp")},

	{leftover, "a file in a home", after, finding("$own", "$home")},
	{leftover, "a file in a directory for temporary files", after, finding("$tmp", "/tmp", "/var/tmp")},
	{leftover, inShared, after, finding("/dev/shm")},
	{leftover, "a file in a cache", after, finding("$caches", "$cache", "$cargo")},
	{leftover, "a process", after, func(a *attempt) string { return strings.Join(lingering(a.Base), " ") }},
	{leftover, "a server", after, func(a *attempt) string { return dials("unix", "@probe-linger-"+a.Base) }},
}

// The homes and caches of other turns, and the trees that checks run in, wherever ralph keeps them.
var (
	homes = []string{"$home/.cache/ralph/clones/*/caches/*/*", "$temp/*/home", "$temp/*/*/home", "$temp/*/*/*/home"}

	judging = []string{"$home/.cache/ralph/*/judge/*", "$temp/*/judge/*", "$temp/*/*/judge/*", "$temp/*/*/*/judge/*"}
)

// ofOthers does something with those of ralph's directories that are not this process's own.
func ofOthers(do func(a *attempt, path string) string, patterns ...string) try {
	return anywhere(func(a *attempt, dir string) string {
		here, _ := os.Getwd()
		own := []string{here}
		for _, name := range []string{"HOME", "GOCACHE"} {
			if at, err := filepath.EvalSymlinks(os.Getenv(name)); err == nil {
				own = append(own, at, filepath.Dir(at))
			}
		}
		if slices.Contains(own, dir) || strings.HasPrefix(here, dir+"/") {
			return ""
		}
		return do(a, dir)
	}, patterns...)
}

// finding finds what the agent of this test has left in directories.
func finding(dirs ...string) try {
	return anywhere(func(a *attempt, dir string) string {
		if text, err := os.ReadFile(filepath.Join(dir, mark)); err != nil || string(text) != a.Base {
			return ""
		}
		return filepath.Join(dir, mark)
	}, dirs...)
}
