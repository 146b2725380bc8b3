package git

import (
	"context"
	"fmt"
	"regexp"
	"sync"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// acting finds what a commit's message does once it is pushed or merged: it mentions somebody, closes an issue, or says
// in a trailer of ours what it is a part of.
var acting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)(^|[^\w.+-])@[a-z0-9]` +
		`|\b(clos(e|es|ed)|fix(es|ed)?|resolv(e|es|ed))\b:?\s+([\w.-]+/[\w.-]+)?(#\d|GH-\d)` +
		`|\b(clos(e|es|ed)|fix(es|ed)?|resolv(e|es|ed))\b:?\s+https?://` +
		`|^ralph-[a-z]+:`)
})

// acts reports whether a message of the commits after since does anything by itself, keeps other workflows from
// running, or has something in it that nobody sees, or a name beside it has. Messages of the agent's are text
// from outside, and what is on GitHub is read as its own commands there.
func (t *Tree) acts(ctx context.Context, since, commit string) (bool, error) {
	messages, err := t.git.out(ctx, "log", "--format=%an%n%cn%n%B", since+".."+commit, "--")
	if err != nil {
		return false, fmt.Errorf("reading the messages of the agent's commits: %w", err)
	}
	return t.bot && acting().MatchString(messages) || safetext.WithoutSkips(messages) != messages ||
		safetext.Visible(messages) != messages, nil
}
