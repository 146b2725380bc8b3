//go:build unix

package proc_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/proc"
)

func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		parent, allow, extra, want []string
	}{
		"what tools need": {
			parent: []string{"PATH=/bin", "HOME=/root", "LC_ALL=C", "LC_=x", "XDG_CACHE_HOME=/c", "GOFLAGS=-mod=mod",
				"https_proxy=http://p:1", "CI=true", "EMPTY="},
			want: []string{"PATH=/bin", "HOME=/root", "LC_ALL=C", "LC_=x", "XDG_CACHE_HOME=/c", "GOFLAGS=-mod=mod",
				"https_proxy=http://p:1", "CI=true"},
		},
		"no credential": {
			parent: []string{"GITHUB_TOKEN=t", "GH_TOKEN=t", "ANTHROPIC_API_KEY=k", "AWS_SECRET_ACCESS_KEY=k", "NPM_TOKEN=t",
				"SSH_AUTH_SOCK=/s", "XDG_TOKEN=t", "LC_API_KEY=k"},
		},
		"nothing of the runner or the harness": {
			parent: []string{"GITHUB_OUTPUT=/o", "ACTIONS_RUNTIME_URL=u", "RUNNER_TEMP=/t", "INPUT_MODEL=m", "RALPH_DEBUG=1",
				"github_env=/e"},
		},
		"not even when listed": {
			parent: []string{"GITHUB_TOKEN=t", "RALPH_KEY=k", "INPUT_X=x", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=t"},
			allow:  []string{"*", "GITHUB_TOKEN", "GITHUB_*", "RALPH_KEY", "INPUT_X", "ACTIONS_*"},
		},
		"a listed name may look like a secret, a prefix may not": {
			parent: []string{"NPM_TOKEN=t", "NPM_CONFIG=c", "NPM_SECRET=s"},
			allow:  []string{"NPM_TOKEN", "NPM_*"},
			want:   []string{"NPM_TOKEN=t", "NPM_CONFIG=c"},
		},
		"the last value counts, extra above all": {
			parent: []string{"PATH=/a", "HOME=/h", "PATH=/b", "=C:=x", "nonsense"},
			extra:  []string{"HOME=/else", "RALPH_HINT=1", "bad"},
			want:   []string{"PATH=/b", "HOME=/else", "RALPH_HINT=1"},
		},
		"an outer harness keeps sight of us": {
			parent: []string{"TREE_MARK_0011=1"},
			want:   []string{"TREE_MARK_0011=1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			allow := c.allow
			if allow == nil {
				allow = proc.Allowed
			}
			if got := proc.Environment(c.parent, allow, c.extra...); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"good": 0o755, "plain": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	env := []string{"PATH=relative:.::" + filepath.Join(dir, "nowhere") + ":" + dir}
	for _, c := range []struct {
		name string
		env  []string
		want error
	}{
		{"good", env, nil},
		{filepath.Join(dir, "good"), nil, nil},
		{"./good", nil, nil},
		{"plain", env, proc.ErrNotExecutable},
		{"none", env, proc.ErrNotFound},
		{"good", []string{"PATH=.:"}, proc.ErrNotFound}, // what stands in the tree is not on PATH
		{"good", nil, proc.ErrNotFound},
		{filepath.Join(dir, "good", "x"), nil, proc.ErrNotFound},
	} {
		path, err := proc.LookPath(c.name, c.env)
		if !errors.Is(err, c.want) || (err == nil) != filepath.IsAbs(path) {
			t.Errorf("%s by %q: %q, %v; want %v", c.name, c.env, path, err, c.want)
		}
	}
}
