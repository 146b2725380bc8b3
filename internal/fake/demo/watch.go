package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/fake"
)

// screen prints what happens as it happens.
type screen struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintln(s.out, text) // the reader can be gone
}

// job prints a line of a job's log.
func (s *screen) job(line string) { s.print("  ralph  │ " + line) }

// watcher prints what changes on the GitHub double. It looks after each request that can change something, before the
// client has its answer.
type watcher struct {
	hub    *fake.GitHub
	screen *screen
	mu     sync.Mutex
	seen   map[string]bool // the lines that are printed
}

func (w *watcher) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(rw, r)
		if r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/git-upload-pack") {
			w.look()
		}
	})
}

// look prints what is there and was not at the last look.
func (w *watcher) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.facts() {
		if !w.seen[line] {
			w.seen[line] = true
			w.screen.print("  github │ " + line)
		}
	}
}

// facts are the branches and run records, the issues with their labels, reactions and comments, and the pull requests.
func (w *watcher) facts() (lines []string) {
	for line := range strings.Lines(git(w.hub, "for-each-ref", "--format=%(refname) is %(objectname:short) %(subject)",
		"refs/heads", "refs/ralph")) {
		lines = append(lines, "pushed: "+strings.TrimSpace(line))
	}
	for _, is := range w.hub.Issues(owner, name) {
		if !is.Pull {
			lines = append(lines, fmt.Sprintf("issue #%d opened by %s: %s", is.Number, is.Author, is.Title))
		}
		for _, e := range w.hub.LabelEvents(owner, name, is.Number) {
			what := "put on"
			if e.Removed {
				what = "taken off"
			}
			lines = append(lines, fmt.Sprintf("label %s %s #%d by %s", e.Label, what, is.Number, e.Actor))
		}
		for _, r := range w.hub.Reactions(owner, name, is.Number) {
			lines = append(lines, fmt.Sprintf("reaction %s on #%d by %s", r.Content, is.Number, r.User))
		}
		for _, c := range w.hub.Comments(owner, name, is.Number) {
			lines = append(lines, fmt.Sprintf("comment on #%d: %s", is.Number, firstWords(c.Body)))
		}
	}
	for _, p := range w.hub.Pulls(owner, name) {
		lines = append(lines, fmt.Sprintf("pull request #%d is %s: %s", p.Number, readiness(p), p.Title))
	}
	return lines
}

func readiness(p fake.Pull) string {
	if p.Draft {
		return "a draft"
	}
	return "ready for review"
}

// firstWords is the first line of a text that is neither a marker nor what the pull request closes.
func firstWords(markdown string) string {
	for line := range strings.Lines(markdown) {
		line = strings.Trim(strings.TrimSpace(line), "#* ")
		if line != "" && !strings.HasPrefix(line, "<!--") && !strings.HasPrefix(line, "Closes ") {
			return unlink(strings.ReplaceAll(line, "**", ""))
		}
	}
	return ""
}

var localLink = regexp.MustCompile(`\[((?:\\.|[^\\\[\]])*)\]\(http://127\.0\.0\.1:[^)\s]*\)`)

// unlink keeps only a link's text: when people read it, the double is gone.
func unlink(markdown string) string { return localLink.ReplaceAllString(markdown, "$1") }

// git asks the double's repository. It returns nothing if git fails.
func git(hub *fake.GitHub, args ...string) string {
	cmd := exec.Command("git", append([]string{"--git-dir", hub.GitDir(owner, name)}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C"}
	out, _ := cmd.Output()
	return strings.TrimSpace(string(out))
}
