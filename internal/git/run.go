package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// door starts git commands in one environment.
type door struct {
	dir  string
	env  []string
	pair []pair // configuration that no file can override
}

type pair struct{ key, value string }

// call is one git command.
type call struct {
	args   []string
	in     io.Reader
	out    io.Writer // nil: returned
	env    []string  // more of it
	pair   []pair
	within time.Duration // 0: the time limit of local commands
}

// How long a git command may take. A remote that stalls is given up earlier, by http.lowSpeedTime.
const (
	localTime  = 10 * time.Minute
	remoteTime = 30 * time.Minute
)

// run runs a command and returns what it said. A command that fails is a *commandError.
func (d door) run(ctx context.Context, c call) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	to := c.out
	if to == nil {
		to = &out
	}
	within := c.within
	if within == 0 {
		within = localTime
	}
	result, err := proc.Run(ctx, proc.Spec{
		Argv: append([]string{"git"}, c.args...), Dir: d.dir, Env: d.environment(c), Stdin: c.in, Stdout: to, Stderr: &errs,
		Timeout: within,
	})
	stdout, stderr = out.String(), errs.String()
	switch {
	case err != nil:
		return stdout, stderr, fmt.Errorf("running git %s: %w", c.args[0], err)
	case result.Class == proc.Canceled:
		return stdout, stderr, context.Cause(ctx)
	case result.Class == proc.NotFound || result.Class == proc.NotExecutable:
		return stdout, stderr, errors.New("git is not installed or not on PATH: install git 2.39 or newer")
	case result.Class == proc.TimedOut:
		return stdout, stderr, fmt.Errorf("git %s did not end within %s", c.args[0], within)
	case result.Exit != 0:
		return stdout, stderr, &commandError{c.args[0], result.Exit, stderr, stdout}
	}
	return stdout, stderr, nil
}

// environment is what a command is started with. Configuration given here beats every file and reaches git's own
// children.
func (d door) environment(c call) []string {
	pairs := append(d.pair[:len(d.pair):len(d.pair)], c.pair...)
	env := append(d.env[:len(d.env):len(d.env)], c.env...)
	if len(pairs) == 0 {
		return env // what the user's environment says counts where it was let in
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(pairs)))
	for i, p := range pairs {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+p.key, "GIT_CONFIG_VALUE_"+n+"="+p.value)
	}
	return env
}

// exit is the exit code of a command that failed, -1 for every other error.
func exit(err error) int {
	var e *commandError
	if errors.As(err, &e) {
		return e.Exit
	}
	return -1
}

// records splits the output of a command with -z.
func records(out string) []string {
	out = strings.TrimSuffix(out, "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// joined is the input of a command with -z.
func joined(names []string) io.Reader {
	return strings.NewReader(strings.Join(names, "\x00") + "\x00")
}

// lastLine is what a command said last, for a sentence.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// ignore keeps the errors that are not git's own answer: a command that fails may have been a question.
func ignore(err error) error {
	if exit(err) > 0 {
		return nil
	}
	return err
}

// passing matches what git says when the network or the server failed in a way that may be over in a moment. A refusal
// is not among it.
var passing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`returned error: (?:5\d\d|429)|HTTP (?:5\d\d|429)|unexpected disconnect|hung up unexpectedly|early EOF|` +
			`Connection (?:reset|timed out|refused)|Could not resolve host|Failed to connect|Empty reply|Recv failure|transfer closed|Operation too slow|curl (?:18|28|35|52|56|92)|` +
			`SSL_ERROR_SYSCALL|TLS connection was non-properly|\(Internal Server Error\)|fatal error in commit_refs`)
})

// passes reports whether a command has failed in a way that may be over in a while. A push that finds its ref moved is
// answered, even where git then also says that the remote hung up.
func passes(err error) bool {
	var e *commandError
	return errors.As(err, &e) && passing().MatchString(e.Stderr) && !strings.Contains(e.Stdout, "(stale info)")
}

// out runs a command and returns its standard output.
func (d door) out(ctx context.Context, args ...string) (string, error) {
	stdout, _, err := d.run(ctx, call{args: args})
	return stdout, err
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)\.(\d+)[0-9.]*`) })

// Version is the git that is on the PATH of an environment: "2.43.0". The error says what to do without a git, or with
// one that is too old.
func Version(ctx context.Context, env []string) (string, error) {
	said := proc.NewTail(1<<10, 0)
	end, err := proc.Run(ctx, proc.Spec{Argv: []string{"git", "--version"}, Env: proc.Environment(env, proc.Allowed),
		Stdout: said, Timeout: 10 * time.Second})
	if err != nil {
		return "", fmt.Errorf("asking git for its version: %w", err)
	}
	m := versionNumber().FindStringSubmatch(said.String())
	if end.Class != proc.Exited || end.Exit != 0 || m == nil {
		return "", fmt.Errorf("git is not installed or not on PATH: install git 2.39 or newer")
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < 2 || major == 2 && minor < 39 {
		return m[0], fmt.Errorf("git %s is too old: install git 2.39 or newer", m[0])
	}
	return m[0], nil
}

// safe is the configuration of every command of ours. No hook, no monitor, no submodule; a file of the repository
// cannot say otherwise.
var safe = []pair{
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"advice.detachedHead", "false"},
	{"core.quotePath", "false"},
	{"protocol.ext.allow", "never"},
	{"core.useReplaceRefs", "false"}, // which make one commit look like another
	{"core.trustCTime", "true"},      // no one sets a file's time of change, so no edit hides behind an old date
	{"core.checkStat", "default"},
	{"core.ignoreStat", "false"},
	{"core.untrackedCache", "false"},
	{"core.splitIndex", "false"},
}

// environment is what both shapes start git with: the given one without anything that steers git, then our own.
func environment(given []string) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, entry := range given {
		if name, _, ok := strings.Cut(entry, "="); ok && (!strings.HasPrefix(name, "GIT_") || name == "GIT_SSL_CAINFO") &&
			name != "SSH_ASKPASS" {
			env = append(env, entry)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true",
		"GIT_MERGE_AUTOEDIT=no",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null/none") // no such file, without a word about it
}

// located are variables of the environment that lead git to another repository than the one it is in.
var located = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CEILING_DIRECTORIES"}

// usersEnvironment is what git would read its user's identity by: the given environment as it is, in the repository
// that we are in.
func usersEnvironment(given []string) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, entry := range given {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(located, name) && !strings.HasPrefix(name, "GIT_TRACE") {
			env = append(env, entry)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0")
}

// usersDoor is what git is started with in the user's own repository: what both shapes have, and the files of
// configuration that the user names. Commands that only read leave the index as it is.
func usersDoor(given []string) []string {
	env := append(environment(given), "GIT_OPTIONAL_LOCKS=0")
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"} {
		if v := proc.Value(given, name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// commandError is a git command that failed.
type commandError struct {
	Command string // "push"
	Exit    int
	Stderr  string
	Stdout  string
}

func (e *commandError) Error() string {
	return fmt.Sprintf("git %s ended with exit code %d: %s", e.Command, e.Exit, lastLine(e.Stderr))
}

// bounded keeps the start of what is written to it.
type bounded struct {
	kept bytes.Buffer
	most int
	lost int64
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.most-b.kept.Len())
	b.kept.Write(p[:n])
	b.lost += int64(len(p) - n)
	return len(p), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// offline keeps git from fetching for a checkout what the clone has not: what checks see is what was there before the
// turn.
var offline = []pair{{"lfs.url", "file:///dev/null/none"}, {"lfs.transfer.maxRetries", "1"},
	{"lfs.skipDownloadErrors", "true"}}
