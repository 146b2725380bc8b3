package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

const token = "ghs_s3cretT0ken"

// server is git over HTTP as GitHub speaks it: a token, pushes of any size.
type server struct {
	*httptest.Server
	chunked bool
	on      func(path string) // at each push, before git sees it
}

func (b *sandbox) serve() *server {
	b.t.Helper()
	out := b.sh(b.dir, `git -C remote.git config http.receivepack true; git --exec-path`)
	backend := filepath.Join(strings.TrimSpace(out), "git-http-backend")
	need.That(b.t, "git-http-backend", exists(backend))
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, pass, _ := r.BasicAuth()
		if user != "x-access-token" || pass != token || len(r.Header.Values("Authorization")) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if len(r.TransferEncoding) > 0 { // the CGI handler wants to know the length
			body, err := io.ReadAll(r.Body)
			if err != nil {
				b.t.Error(err)
			}
			s.chunked = true
			r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		}
		if s.on != nil && strings.HasSuffix(r.URL.Path, "git-receive-pack") && r.Method == http.MethodPost {
			s.on(r.URL.Path)
		}
		handler := cgi.Handler{Path: backend,
			Env: append(testEnv(b.home), "GIT_PROJECT_ROOT="+b.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x"), Logger: nil,
			Stderr: io.Discard}
		handler.ServeHTTP(w, r)
	}))
	b.t.Cleanup(s.Close)
	return s
}

// over makes the tree's remote the server.
func (s *server) over(o *Options) {
	o.Remote = Remote{URL: s.URL + "/remote.git", Token: token}
}

func TestPushOverHTTP(t *testing.T) {
	b := newSandbox(t)
	s := b.serve()
	refused, access := b.options(), (*AccessError)(nil)
	s.over(&refused)
	refused.Remote.Token = "wrong"
	if _, err := Checkout(b.ctx, refused, "", "ralph/x"); !errors.As(err, &access) || strings.Contains(err.Error(), "wrong") ||
		!strings.Contains(err.Error(), "check that the token is valid") {
		t.Fatal(err)
	}
	tree := b.checkout(b.asNobody, s.over)
	big := make([]byte, 3<<20)
	for i, x := 0, uint32(1); i < len(big); i++ { // what does not compress
		x = x*1664525 + 1013904223
		big[i] = byte(x >> 24)
	}
	os.WriteFile(filepath.Join(tree.Dir(), "big"), big, 0o644)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "big"))
	record := must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte("1")}, "r"))
	leaks := make(chan string, 100)
	s.on = func(string) { b.leaks(leaks) }
	must[*Moved](t)(tree.Push(b.ctx))
	close(leaks)
	for where := range leaks {
		t.Errorf("the token is in %s", where)
	}
	b.as = nil
	if got := b.sh(b.remote, `git rev-parse ralph/issue-42 refs/ralph/runs/issue-42`); got != c.SHA+"\n"+record+"\n" ||
		!s.chunked {
		t.Fatalf("%s chunked: %v", got, s.chunked)
	}
	if moved, err := tree.Push(b.ctx); moved != nil || err != nil {
		t.Fatal(moved, err)
	}
}

// leaks looks for the token where it must not be: in a file of the checkout, in a command line.
func (b *sandbox) leaks(found chan<- string) {
	filepath.WalkDir(filepath.Join(b.dir, "root"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && holds(path) {
			found <- path
		}
		return nil
	})
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if holds(path) {
			found <- path
		}
	}
}

func holds(path string) bool {
	text, _ := os.ReadFile(path)
	const basic = "eC1hY2Nlc3MtdG9rZW46" // "x-access-token:" and what follows
	return bytes.Contains(text, []byte(token)) || bytes.Contains(text, []byte(basic))
}

func TestLease(t *testing.T) {
	b := newSandbox(t)
	s := b.serve()
	one := b.checkout(s.over)
	two := b.checkout(s.over, func(o *Options) { o.Root = filepath.Join(b.dir, "root2") })
	take := func(tree *Tree, who string) error {
		must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte(who)}, "lease"))
		return tree.PushRecord(b.ctx)
	}
	noError(t, take(one, "one"))
	var taken *TakenError
	if err := take(two, "two"); !errors.As(err, &taken) || taken.Task != "issue-42" {
		t.Fatal(err)
	}
	noError(t, take(one, "one again"))
	if _, err := two.Push(b.ctx); !errors.As(err, &taken) {
		t.Fatal(err)
	}
	// A push that arrives while ours is on its way.
	three := b.checkout(s.over, func(o *Options) { o.Root = filepath.Join(b.dir, "root3") })
	must[string](t)(three.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte("three")}, "lease"))
	s.on = func(string) {
		s.on = nil
		b.sh(b.remote, `git update-ref refs/ralph/runs/issue-42 `+b.base)
	}
	if err := three.PushRecord(b.ctx); !errors.As(err, &taken) {
		t.Fatal(err)
	}
}

// TestTheAnswerToAPushIsLost: what the remote has of ours is ours, whatever was recorded and committed since it was
// sent. The push is broken off when the remote has it already.
func TestTheAnswerToAPushIsLost(t *testing.T) {
	t.Parallel()
	record := func(b *sandbox, tree *Tree, text string) {
		must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte(text)}, text))
	}
	commit := func(b *sandbox, tree *Tree, text string) {
		os.WriteFile(filepath.Join(tree.Dir(), "x"), []byte(text), 0o644)
		must[loop.Commit](t)(tree.Commit(b.ctx, b.base, text))
		record(b, tree, text)
	}
	both := func(ctx context.Context, tree *Tree) error {
		moved, err := tree.Push(ctx)
		if moved != nil {
			t.Errorf("the branch was taken for moved: %+v", moved)
		}
		return err
	}
	alone := func(ctx context.Context, tree *Tree) error { return tree.PushRecord(ctx) }
	for name, c := range sampled(t, map[string]struct {
		lost, next func(context.Context, *Tree) error
		between    func(*sandbox, *Tree, string)
	}{
		"the record, and nothing has come since": {alone, alone, func(*sandbox, *Tree, string) {}},
		"the record, then another":               {alone, alone, record},
		"the record, then a commit":              {alone, both, commit},
		"both, and nothing has come since":       {both, both, func(*sandbox, *Tree, string) {}},
		"both, then another record":              {both, alone, record},
		"both, then another commit":              {both, both, commit},
	}, "the record, then a commit", "both, then another commit") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			tree := b.checkout()
			commit(b, tree, "1")
			noError(t, both(b.ctx, tree))
			hook, arrived := filepath.Join(b.remote, "hooks", "post-receive"), filepath.Join(b.dir, "arrived")
			os.MkdirAll(filepath.Dir(hook), 0o755)
			os.WriteFile(hook, []byte("#!/bin/sh\n: >'"+arrived+"'\nexec sleep 30\n"), 0o755)
			commit(b, tree, "2")
			ctx, breakOff := context.WithCancel(b.ctx)
			go func() {
				for !exists(arrived) {
					time.Sleep(time.Millisecond)
				}
				breakOff()
			}()
			if err := c.lost(ctx, tree); err == nil {
				t.Fatal("the push was not broken off")
			}
			os.Remove(hook)
			c.between(b, tree, "3")
			noError(t, c.next(b.ctx, tree))
			c.between(b, tree, "4")
			noError(t, both(b.ctx, tree))
			if got := b.sh(b.remote, `git rev-parse refs/ralph/runs/issue-42 refs/heads/ralph/issue-42`); got !=
				tree.record+"\n"+tree.head+"\n" {
				t.Errorf("the remote has\n%s, want %s and %s", got, tree.record, tree.head)
			}
		})
	}
}

// TestPushIsRefused: what the commits hold is told as that, with the remote's own words whole; what no other commit
// changes is not. Taken back, the work is committed anew, and what was refused is in no commit.
func TestPushIsRefused(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout()
	os.WriteFile(filepath.Join(tree.Dir(), "x"), []byte("1"), 0o644)
	must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "x"))
	hook := filepath.Join(b.remote, "hooks", "pre-receive")
	os.MkdirAll(filepath.Dir(hook), 0o755)
	for _, tt := range []struct {
		says    string
		content bool
	}{
		{"error: GH001: Large files detected.\nerror: File a/b.bin is 120.00 MB; this exceeds GitHub's file size limit", true},
		{"error: GH013: Repository rule violations found for refs/heads/x.\n- GITHUB PUSH PROTECTION\n  Push cannot contain " +
			"secrets\n  path: migrations/locked.go:1\n  see https://docs.example/#resolving-a-blocked-push", true},
		{"refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` " +
			"permission", true},
		{"error: GH013: Repository rule violations found\n- Commit message must match a given regex pattern: ^[A-Z]+-", true},
		{"no file may be called so", true},
		{"error: GH006: Protected branch update failed for refs/heads/x.", false},
		{"error: GH013: Repository rule violations found\n- Commits must have verified signatures.", false},
		{"error: GH013: Repository rule violations found\n- Cannot create ref due to creations being restricted.", false},
		{"error: GH013: Repository rule violations found\n- Committer email must end with @example.com", false},
		{"This repository is archived, and is read-only", false},
	} {
		os.WriteFile(hook, []byte("#!/bin/sh\ncat >&2 <<'X'\n"+tt.says+"\nX\nexit 1\n"), 0o755)
		_, err := tree.Push(b.ctx)
		var content *ContentError
		if is := errors.As(err, &content); is != tt.content || is && strings.Count(content.Words, "\n") !=
			strings.Count(tt.says, "\n") || !is && !strings.Contains(err.Error(), "refused the push") {
			t.Errorf("of %q: %#v", tt.says, err)
		}
	}
	os.Remove(hook)
	noError(t, tree.TakeBack(b.ctx, b.base))
	os.Remove(filepath.Join(tree.Dir(), "x"))
	os.WriteFile(filepath.Join(tree.Dir(), "y"), []byte("1"), 0o644)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "y"))
	must[*Moved](t)(tree.Push(b.ctx))
	if got := b.sh(b.remote, `git log --format=%s --name-only main..ralph/issue-42`); len(c.Files) != 1 || got != "y\n\ny\n" {
		t.Errorf("committed %+v; the remote has %q", c, got)
	}
}

func TestCancelledCommitCanBeMadeAgain(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout()
	os.WriteFile(filepath.Join(tree.Dir(), "x"), []byte("1"), 0o644)
	os.WriteFile(tree.index+".lock", nil, 0o644) // as a killed git leaves it
	begin := time.Now()
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "x"))
	if len(c.Files) != 1 || time.Since(begin) > 5*time.Second {
		t.Fatalf("%+v", c)
	}
	again := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "x")) // its record was never written
	if again.SHA != c.SHA || again.Empty || len(again.Files) != 1 {
		t.Fatalf("%+v", again)
	}
}
