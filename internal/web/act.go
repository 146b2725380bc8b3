package web

import (
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// mostWords is how many characters of a form's text are taken.
const mostWords = 4000

// action answers a form that asks for something.
func action(kind string) func(*asked) error {
	return func(a *asked) error {
		if a.Actions == nil {
			return errHidden
		}
		if err := a.r.ParseForm(); err != nil {
			return errForm
		}
		asks := Action{Kind: kind, By: a.who, Repository: a.repository, Run: a.run.ID, Delivery: a.delivery.ID,
			Text: given(a.r.PostForm)}
		if kind == Hint && asks.Text == "" {
			return &Refusal{"The hint is empty. Say what the agent should know."}
		}
		if kind == Approve && asks.Text == "" {
			return &Refusal{"Nothing was chosen. Choose what you accept."}
		}
		if err := a.Actions.Do(a.r.Context(), asks); err != nil {
			return err
		}
		if kind == Redeliver {
			return a.goTo("/deliveries/" + url.PathEscape(a.delivery.ID))
		}
		return a.goTo("/runs/" + url.PathEscape(a.run.ID))
	}
}

// given is what somebody wrote or chose, a line each, without what nobody can see.
func given(form url.Values) string {
	text := strings.Join(form["text"], "\n")
	return safetext.FirstRunes(strings.TrimSpace(safetext.Visible(text)), mostWords)
}
