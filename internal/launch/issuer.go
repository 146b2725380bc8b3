package launch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/work"
)

// mostTokens is how many tokens one process gets: at one an hour, enough for three days.
const mostTokens = 72

// Times of calls to GitHub.
const (
	makeTime   = 25 * time.Second
	revokeTime = 10 * time.Second
)

// issuer gives one job its tokens, and revokes them at the end.
type issuer struct {
	from  Tokens
	clock func() time.Time

	mu   sync.Mutex // held while a token is made: who asks meanwhile gets that one
	now  work.Token
	made []work.Token
}

// newer is a token that is newer than that of a number: of 0, the first one.
func (i *issuer) newer(ctx context.Context, than int) (work.Token, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if than < i.now.Number {
		return i.now, nil
	}
	if len(i.made) >= mostTokens {
		return work.Token{}, fmt.Errorf("the job has had %d tokens, the maximum", mostTokens)
	}
	ctx, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	token, err := i.from.Make(ctx)
	if err != nil {
		return work.Token{}, fmt.Errorf("making a token for the job: %w", err)
	}
	token.Number = than + 1 // a server before us may have made more
	i.now, i.made = token, append(i.made, token)
	return token, nil
}

// revoke ends every token that has not ended by itself.
func (i *issuer) revoke(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	var errs []error
	for _, token := range i.made {
		if !token.Ends.IsZero() && i.clock().After(token.Ends) {
			continue
		}
		soon, cancel := context.WithTimeout(ctx, revokeTime)
		if err := i.from.Revoke(soon, token.Value); err != nil {
			errs = append(errs, fmt.Errorf("revoking a token of the job, which ends by itself at %s: %w",
				token.Ends.UTC().Format("15:04 UTC"), err))
		}
		cancel()
	}
	i.made = nil
	return errors.Join(errs...)
}

// values are the tokens that the job has had.
func (i *issuer) values() (out []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, token := range i.made {
		out = append(out, token.Value)
	}
	return out
}
