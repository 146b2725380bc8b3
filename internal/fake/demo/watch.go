package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/fake"
)

// watcher tells what changes on the stand-in. It looks after each request that may have changed something, before
// whoever asked continues.
type watcher struct {
	hub *fake.GitHub
	say func(line string)

	mu   sync.Mutex
	seen map[string]string // a fact's value by its key, as of the last look
}

// fact is one thing on the stand-in, and what to say of it.
type fact struct {
	key, value string
	appeared   string // when there was none with this key
	changed    string // when its value was another; empty says nothing
}

func newWatcher(s *screen) *watcher { return &watcher{say: s.github, seen: map[string]string{}} }

// wrap looks after each request that writes.
func (w *watcher) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(rw, r)
		if r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/git-upload-pack") {
			w.look()
		}
	})
}

// look reports every fact that is new, or other than at the last look.
func (w *watcher) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	facts := w.refs()
	for _, is := range w.hub.Issues(owner, name) {
		facts = append(facts, w.issue(is)...)
	}
	for _, p := range w.hub.Pulls(owner, name) {
		facts = append(facts, pull(p)...)
	}
	for _, f := range facts {
		before, known := w.seen[f.key]
		w.seen[f.key] = f.value
		switch {
		case !known && f.appeared != "":
			w.say(f.appeared)
		case known && before != f.value && f.changed != "":
			w.say(f.changed)
		}
	}
}

// refs are the branches and the run records.
func (w *watcher) refs() (facts []fact) {
	for line := range strings.Lines(git(w.hub, "for-each-ref", "--format=%(refname) %(objectname:short) %(subject)",
		"refs/heads", "refs/ralph")) {
		ref, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		what := "pushed: run record " + ref
		if strings.HasPrefix(ref, "refs/ralph/leases/") {
			what = "pushed: lease " + ref
		}
		if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			what = "pushed: branch " + branch
		}
		said := what + " is " + at
		facts = append(facts, fact{ref, at, said, said})
	}
	return facts
}

// issue are an issue's own facts, its labels, reactions and comments; of a pull request only those that it has as an
// issue.
func (w *watcher) issue(is fake.Issue) (facts []fact) {
	at := fmt.Sprintf("#%d", is.Number)
	if !is.Pull {
		facts = append(facts, fact{key: "issue " + at,
			appeared: fmt.Sprintf("issue %s opened by %s: %s", at, is.Author, is.Title)})
	}
	for _, e := range w.hub.LabelEvents(owner, name, is.Number) {
		what := "put on"
		if e.Removed {
			what = "taken off"
		}
		facts = append(facts, fact{key: fmt.Sprint("event ", e.ID),
			appeared: fmt.Sprintf("label %s %s %s by %s", e.Label, what, at, e.Actor)})
	}
	for _, r := range w.hub.Reactions(owner, name, is.Number) {
		facts = append(facts, fact{key: fmt.Sprint("reaction ", r.ID),
			appeared: fmt.Sprintf("reaction %s on %s by %s", r.Content, at, r.User)})
	}
	for _, c := range w.hub.Comments(owner, name, is.Number) {
		said := fmt.Sprintf("on %s: %s", at, firstWords(c.Body))
		facts = append(facts, fact{fmt.Sprint("comment ", c.ID), c.Body, "comment posted " + said, "comment edited " + said})
	}
	return facts
}

// pull are the facts that only a pull request has.
func pull(p fake.Pull) []fact {
	at := fmt.Sprintf("pull request #%d", p.Number)
	kind := "opened"
	if p.Draft {
		kind = "opened as a draft"
	}
	return []fact{
		{key: at, appeared: fmt.Sprintf("%s %s: %s", at, kind, p.Title)},
		{key: at + " text", value: p.Title + p.Body, changed: at + " described again: " + firstWords(p.Body)},
		{key: at + " draft", value: fmt.Sprint(p.Draft), changed: at + " is " + readiness(p)},
	}
}

func readiness(p fake.Pull) string {
	if p.Draft {
		return "a draft"
	}
	return "ready for review"
}

// firstWords is the first line of a text that says something: no marker, and not what the pull request closes.
func firstWords(markdown string) string {
	for line := range strings.Lines(markdown) {
		line = strings.Trim(strings.TrimSpace(line), "#* ")
		if line != "" && !strings.HasPrefix(line, "<!--") && !strings.HasPrefix(line, "Closes ") {
			return unlink(strings.ReplaceAll(line, "**", ""))
		}
	}
	return ""
}

// git asks the stand-in's repository; what git refuses is empty.
func git(hub *fake.GitHub, args ...string) string {
	cmd := exec.Command("git", append([]string{"--git-dir", hub.GitDir(owner, name)}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C"}
	out, _ := cmd.Output()
	return string(out)
}
