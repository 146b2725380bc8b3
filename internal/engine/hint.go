package engine

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Hint is something that a person who may says to a run while it works.
type Hint struct {
	ID   string `json:"id"` // the same however often it is told: the run takes it in once
	By   string `json:"by"` // login, or who else it is
	Text string `json:"text"`
}

// MaxHint bounds what is taken of a hint, in bytes.
const MaxHint = 4 << 10

// HintPrompts are the prompts of a run that takes in, before each turn, what people have said meanwhile. Without them the
// run goes on as it would have.
type HintPrompts struct {
	Prompts
	Run  *Run
	As   loop.Resume             // who works on it, as hints are recorded: Owner and RunURL
	Said func(loop.State) []Hint // all that is known of; those that were heard are skipped
}

// For implements loop.Prompt.
func (h HintPrompts) For(s loop.State, step loop.Step) (string, error) {
	return h.Prompts.For(h.recordHints(s), step)
}

// recordHints records what was said since the turn before.
func (h HintPrompts) recordHints(s loop.State) loop.State {
	for _, said := range h.Said(s) {
		text := safetext.FirstBytes(safetext.Sanitise(h.Run.Redact(said.Text)), MaxHint)
		if said.ID == "" || text == "" || slices.Contains(s.HintIDs, said.ID) {
			continue
		}
		as := h.As
		as.Hint, as.Said = text, &loop.HintSource{ID: said.ID, By: said.By}
		next, err := h.Run.Journal.Store(loop.Record{Type: loop.Resumed, At: h.Run.Clock(), Resume: &as})
		if err != nil {
			h.Run.Log("recording a hint: %v", err)
			return s
		}
		h.Run.Log("this turn is told what %s said: %s", said.By, text)
		s = next
	}
	return s
}
