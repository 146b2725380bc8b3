package git

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)\.(\d+)[0-9.]*`) })

// Version is the git that is on the PATH of an environment: "2.43.0". The error says what to do when there is none, or
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
