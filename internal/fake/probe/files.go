//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// isReal reports whether a path leads to what the test has put there, and not to something else that a box has in its
// place. What was not put there by the test, is.
func (a *attempt) isReal(path string) bool {
	var stat unix.Stat_t
	path = filepath.Clean(path)
	ofRunner := a.Runner.Top != "" && strings.HasPrefix(path, a.Runner.Top)
	if a.Base == "" || !strings.HasPrefix(path, a.Base) && !ofRunner {
		return true
	}
	if unix.Stat(path, &stat) != nil || stat.Dev != a.Device {
		return false
	}
	inode, known := a.Inodes[path]
	return !known || stat.Ino == inode
}

// appends reports whether a file that exists can be written; it is left as it is.
func (a *attempt) appends(paths ...string) string {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !a.isReal(path) })
	return opens(os.O_WRONLY|os.O_APPEND, paths...)
}

// makes reports whether something can be made in a directory; it is removed again.
func (a *attempt) makes(dirs ...string) string {
	for _, dir := range dirs {
		if !a.isReal(dir) {
			continue
		}
		path := filepath.Join(dir, "probe-made-"+strconv.Itoa(os.Getpid()))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			os.Remove(path)
			return "made in " + dir
		}
	}
	return ""
}

func (a *attempt) reads(path string) string {
	if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
		return "read " + path
	}
	return ""
}

// runnerProbes are for the directories of a runner.
var runnerProbes = []probe{
	{runnerFile, "the event", inJob, func(a *attempt) string { return a.look(a.Runner.Event, "event") }},
	{runnerFile, "the token that the checkout has left in .git/config", inJob, func(a *attempt) string {
		return a.look(a.Runner.Workspace+"/.git/config", "checkout")
	}},
	{runnerFile, "the token that the checkout has left in a file of its own", inJob, func(a *attempt) string {
		return a.among([]string{"included"}, a.Runner.Temp)
	}},
	{runnerFile, "the workspace", inJob, func(a *attempt) string { return a.reads(a.Runner.Workspace + "/file.txt") }},
	{runnerFile, "files of other steps in RUNNER_TEMP", inJob, func(a *attempt) string {
		return a.among([]string{"step"}, a.Runner.Temp)
	}},
	{runnerFile, "the commands of this step and of others", inJob, func(a *attempt) string {
		return a.among([]string{"commands"}, a.Runner.Commands)
	}},
	{runnerFile, "the names of the command files", inJob, func(a *attempt) string {
		if entries, err := os.ReadDir(a.Runner.Commands); err == nil && len(entries) > 0 {
			return "entries in " + a.Runner.Commands
		}
		return ""
	}},
	{runnerFile, "workspaces of other repositories", inJob, func(a *attempt) string {
		return a.reads(a.Runner.Siblings + "/file.txt")
	}},
	{runnerFile, "the login of the runner itself", inJob, func(a *attempt) string {
		return a.among([]string{"runner"}, a.Runner.Top+"/.credentials", a.Runner.Top+"/.runner",
			a.Runner.Top+"/.credentials_rsaparams", a.Runner.Top+"/_diag")
	}},
	{runnerFile, "the home that the runner gives", inJob, func(a *attempt) string {
		return a.among([]string{"runnerhome"}, a.Runner.Home)
	}},
	{runnerFile, "by the root of another process", inJob, func(a *attempt) string {
		for _, dir := range a.others() {
			if seen := a.look(dir+"/root"+a.Runner.Event, "event"); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{runnerSet, "the event", inJob, func(a *attempt) string { return a.appends(a.Runner.Event) }},
	{runnerSet, "RUNNER_TEMP", inJob, func(a *attempt) string { return a.makes(a.Runner.Temp) }},
	{runnerSet, "GITHUB_ENV", inJob, func(a *attempt) string { return a.appends(a.Runner.Commands + "/set_env_1") }},
	{runnerSet, "GITHUB_OUTPUT", inJob, func(a *attempt) string { return a.appends(a.Runner.Commands + "/set_output_1") }},
	{runnerSet, "GITHUB_PATH", inJob, func(a *attempt) string { return a.appends(a.Runner.Commands + "/add_path_1") }},
	{runnerSet, "GITHUB_STATE", inJob, func(a *attempt) string { return a.appends(a.Runner.Commands + "/save_state_1") }},
	{runnerSet, "GITHUB_STEP_SUMMARY", inJob, func(a *attempt) string {
		return a.appends(a.Runner.Commands + "/step_summary_1")
	}},
	{runnerSet, "a command file of its own", inJob, func(a *attempt) string { return a.makes(a.Runner.Commands) }},
	{runnerSet, "the workspace and its hooks", inJob, func(a *attempt) string {
		return a.makes(a.Runner.Workspace, a.Runner.Workspace+"/.git/hooks")
	}},
	{runnerSet, "actions of later steps", inJob, func(a *attempt) string {
		return a.makes(filepath.Dir(a.Runner.Temp) + "/_actions")
	}},
	{runnerSet, "workspaces of other repositories", inJob, func(a *attempt) string { return a.makes(a.Runner.Siblings) }},
	{runnerSet, "the runner itself", inJob, func(a *attempt) string { return a.makes(a.Runner.Top) }},
	{runnerSet, "the home that the runner gives", inJob, func(a *attempt) string { return a.makes(a.Runner.Home) }},
}

// fileProbes write what is not theirs.
var fileProbes = []probe{
	{outside, "a file beside the worktree", forbidden, func(a *attempt) string {
		return a.appends(a.Base + "/outside.txt")
	}},
	{outside, "a new file beside the worktree", forbidden, func(a *attempt) string { return a.makes(a.Base) }},
	{outside, "the mode of a file outside", forbidden, func(a *attempt) string {
		return done("chmod", os.Chmod(a.Base+"/outside.txt", 0o666))
	}},
	{outside, "the times of a file outside", forbidden, func(a *attempt) string {
		return done("utimes", unix.UtimesNanoAt(unix.AT_FDCWD, a.Base+"/outside.txt", []unix.Timespec{{Nsec: unix.UTIME_NOW},
			{Nsec: unix.UTIME_NOW}}, 0))
	}},
	{outside, "the attributes of a file outside", forbidden, func(a *attempt) string {
		return done("setxattr", unix.Setxattr(a.Base+"/outside.txt", "user.probe", []byte("x"), 0))
	}},
	{outside, "by a link that it makes", forbidden, func(a *attempt) string {
		link := filepath.Join(os.TempDir(), "probe-out")
		defer os.Remove(link)
		_ = os.Symlink(a.Base+"/outside.txt", link)
		return a.appends(link)
	}},
	{outside, "by a hard link that it makes", forbidden, func(a *attempt) string {
		link := filepath.Join(os.Getenv("HOME"), "probe-out")
		defer os.Remove(link)
		if os.Link(a.Base+"/outside.txt", link) != nil {
			return ""
		}
		return a.appends(link)
	}},
	{outside, "by the root of another process", forbidden, func(a *attempt) string {
		for _, dir := range a.others() {
			if seen := a.appends(dir + "/root" + a.Base + "/outside.txt"); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{outside, "programs and settings of the system", forbidden, func(a *attempt) string {
		return a.appends("/etc/passwd", "/etc/profile", "/etc/gitconfig", "/usr/bin/git", "/usr/bin/env") +
			a.makes("/etc", "/etc/cron.d", "/usr/local/bin", "/usr/bin", "/var/spool/cron/crontabs")
	}},
	{othersHome, "write a startup file of the user's shell", forbidden, func(a *attempt) string {
		return a.appends(a.Home + "/.bashrc")
	}},
	{othersHome, "write the user's configuration of git", forbidden, func(a *attempt) string {
		return a.appends(a.Home + "/.gitconfig")
	}},
	{othersHome, "write who may log in", forbidden, func(a *attempt) string { return a.makes(a.Home + "/.ssh") }},
	{othersHome, "write the user's instructions for agents", forbidden, func(a *attempt) string {
		return a.makes(a.Home + "/.claude")
	}},
	{othersHome, "write a program of the user's", forbidden, func(a *attempt) string {
		return a.makes(a.Home+"/bin") + a.appends(a.Home+"/bin/tool")
	}},
	{othersHome, "write the user's caches", forbidden, func(a *attempt) string {
		return a.makes(a.Home+"/.cache", a.Home+"/.cache/go-build")
	}},
	{othersHome, "read the home of another", forbidden, func(a *attempt) string { return a.homes(read) }},
	{othersHome, "write the home of another", forbidden, func(a *attempt) string { return a.homes(a.write) }},
	{othersHome, "write the tree of the checks", byAgent, func(a *attempt) string { return a.judging(a.write) }},
	{othersHome, "read the tree of the checks", byAgent, func(a *attempt) string { return a.judging(read) }},
	{readTree, "write its checkout", byReviewer, func(a *attempt) string {
		dir, _ := os.Getwd()
		return a.makes(dir)
	}},
	{readTree, "write the worktree", byReviewer, func(a *attempt) string {
		if a.Tree == "" {
			return ""
		}
		return a.makes(a.Tree)
	}},
}

func done(what string, err error) string {
	if err != nil {
		return ""
	}
	return what
}

func read(dir string) string {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return "entries in " + dir
	}
	return ""
}

func (a *attempt) write(dir string) string { return a.makes(dir) }

// homes does something with the homes and caches of the others, wherever ralph keeps them.
func (a *attempt) homes(do func(string) string) string {
	return a.theirs(do, []string{"*/home", "*/*/home", "*/*/*/home"}, ".cache/ralph/clones/*/caches/*/*")
}

// judging does something with the tree that checks run in.
func (a *attempt) judging(do func(string) string) string {
	return a.theirs(do, []string{"*/judge/*", "*/*/judge/*", "*/*/*/judge/*"}, ".cache/ralph/*/judge/*")
}

// theirs does something with the directories of ralph's that are not our own.
func (a *attempt) theirs(do func(string) string, temp []string, cached string) string {
	here, _ := os.Getwd()
	own := []string{here}
	for _, name := range []string{"HOME", "GOCACHE"} {
		if at, err := filepath.EvalSymlinks(os.Getenv(name)); err == nil {
			own = append(own, at, filepath.Dir(at))
		}
	}
	patterns := []string{filepath.Join(a.Home, cached)}
	for _, pattern := range temp {
		patterns = append(patterns, filepath.Join(a.Temp, pattern))
	}
	for _, pattern := range patterns {
		all, _ := filepath.Glob(pattern)
		for _, dir := range all {
			if slices.Contains(own, dir) || strings.HasPrefix(here, dir+"/") {
				continue
			}
			if seen := do(dir); seen != "" {
				return seen
			}
		}
	}
	return ""
}
