package web

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Answers about what people may do are kept for a minute: somebody who loses access sees nothing more after it.
const (
	accessKept = time.Minute
	mostKept   = 10_000
)

// access keeps the answers of an Access. Whatever cannot be found out is a no, which is not kept.
type access struct {
	from  Access
	clock func() time.Time

	mu   sync.Mutex
	kept map[question]answer
}

type question struct{ login, about string }

type answer struct {
	may      Permission
	operator bool
	readable []string
	until    time.Time
}

// What is asked about besides one repository, whose name has a slash in it.
const (
	aboutAll      = "all"
	aboutOperator = "operator"
)

func (a *access) permission(ctx context.Context, who Identity, repository string) Permission {
	repository = strings.ToLower(repository)
	if !strings.Contains(repository, "/") {
		return NoPermission
	}
	got := a.ask(question{who.Login, repository}, func() (answer, error) {
		may, err := a.from.Permission(ctx, who, repository)
		return answer{may: may}, err
	})
	return got.may
}

// readable are the repositories that a person may read, in lower case.
func (a *access) readable(ctx context.Context, who Identity) []string {
	return a.ask(question{who.Login, aboutAll}, func() (answer, error) {
		names, err := a.from.Readable(ctx, who)
		lower := safetext.Map(names, strings.ToLower)
		slices.Sort(lower)
		return answer{readable: slices.Compact(lower)}, err
	}).readable
}

func (a *access) operator(ctx context.Context, who Identity) bool {
	return a.ask(question{who.Login, aboutOperator}, func() (answer, error) {
		is, err := a.from.Operator(ctx, who)
		return answer{operator: is}, err
	}).operator
}

func (a *access) ask(q question, find func() (answer, error)) answer {
	if q.login == "" || a.from == nil {
		return answer{}
	}
	now := a.clock()
	a.mu.Lock()
	known, ok := a.kept[q]
	a.mu.Unlock()
	if ok && now.Before(known.until) {
		return known
	}
	got, err := find()
	if err != nil {
		return answer{}
	}
	got.until = now.Add(accessKept)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || len(a.kept) >= mostKept {
		a.kept = map[question]answer{}
	}
	a.kept[q] = got
	return got
}

// forget drops what is known of a person, who has signed out or in again.
func (a *access) forget(login string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for q := range a.kept {
		if q.login == login {
			delete(a.kept, q)
		}
	}
}
