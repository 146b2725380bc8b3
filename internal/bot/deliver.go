package bot

import (
	"context"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Work that is done is delivered by a pull request. Where GitHub does not open one, which is the default for workflows
// of a new repository, the run is not done: it waits, and a sweep or somebody's "continue" tries again without a turn
// of an agent.

// deliver opens the pull request of a run that is done and has none yet.
func (a *Action) deliver(ctx context.Context, work *job, result loop.Result) loop.Result {
	s := work.Journal.State()
	if result.Outcome != loop.Done || s.Post.Pull != 0 || s.Tip == "" || s.NoDiff() || work.Journal.Lost() != nil {
		return result
	}
	post, err := work.publisher.deliver(ctx, s)
	if err == nil && post != nil {
		_, err = work.Journal.Posted(ctx, post)
	}
	if err != nil {
		result.Outcome, result.ForPull = loop.Waiting, true
		result.Reason = err.Error()
	}
	result.State = work.Journal.State()
	return result
}

// deliver opens the pull request, as a draft: what tells of the end makes it ready. Nothing is posted in a dry run.
func (p *publisher) deliver(ctx context.Context, s loop.State) (*loop.Post, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tryOpen(ctx, s, true)
}
