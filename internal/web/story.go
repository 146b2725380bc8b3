package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
)

// How much of a run one page holds.
const (
	batch          = 500       // records that are read at the same time
	mostOutput     = 128 << 10 // bytes of what was printed that the page begins with
	mostPiece      = 32 << 10  // bytes of one record of it
	iterationBytes = 2 << 20   // all iterations as HTML
	mostDiffs      = 64        // diffs that are kept, those of the newest iterations
	mostDiff       = 110 << 10 // bytes of one
	mostPrompt     = 32 << 10  // bytes of a prompt; its own page has all
	mostAccept     = 50        // concerns that are listed to be accepted
)

// story is the state of a run by its records so far.
type story struct {
	server  *Server
	run     Run
	detail  html.Detail
	number  int64 // of the newest record
	output  []piece
	printed int  // bytes of output
	cut     bool // something older was printed
	prompt  int  // number of the iteration with the latest prompt
}

// piece is one record of what was printed.
type piece struct {
	Number int64
	Text   string
}

func (s *Server) newStory(run Run) *story {
	st := &story{server: s, run: run}
	st.detail.View = report.View{Site: report.Site{ServerURL: s.GitHub, Repo: run.Repository},
		Words:    report.Words{Phrase: "/ralph", Redact: redact()},
		Controls: report.Controls{Label: "ralph", Running: "ralph:running"}}
	if s.alone != nil {
		st.detail.View = report.View{Words: report.Words{Redact: redact()}}
	}
	st.detail.Diffs, st.detail.Prompts = map[int]html.Diff{}, map[int]html.Prompt{}
	return st
}

// records are those of a run after a number. Where one cannot be read, the error is the last.
func (s *Server) records(ctx context.Context, run string, after int64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for n := batch; n == batch; {
			some, err := s.Runs.Records(ctx, run, after, batch)
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			for _, r := range some {
				if after = r.Number; !yield(r, nil) {
					return
				}
			}
			n = len(some)
		}
	}
}

// upTo reads the records after those that the story has, up to a number; 0: all there are.
func (st *story) upTo(ctx context.Context, last int64) error {
	for r, err := range st.server.records(ctx, st.run.ID, st.number) {
		if err != nil || last > 0 && r.Number > last {
			return err
		}
		st.take(r)
	}
	return nil
}

// take adds a record and says which iteration it changed; 0: none. What cannot be read is skipped: a newer ralph
// may have written it.
func (st *story) take(r store.Record) (changed int) {
	st.number = r.Number
	switch r.Kind {
	case FactRecord:
		var fact loop.Record
		if json.Unmarshal(r.Body, &fact) != nil || fact.Valid() != nil {
			return 0
		}
		st.detail.State = st.detail.State.With(fact)
		st.detail.Records = append(st.detail.Records, fact)
		if last := st.detail.State.Last(); last != nil && fact.Iteration > 0 {
			return last.N
		}
	case OutputRecord:
		st.keep(piece{r.Number, console(safetext.FirstBytes(string(r.Body), mostPiece))})
	case ShownRecord:
		var b ShownBody
		if json.Unmarshal(r.Body, &b) != nil || b.Iteration <= 0 {
			return 0
		}
		old := b.Iteration - mostDiffs
		if b.Diff != nil {
			st.detail.Diffs[b.Iteration] = html.Diff{Text: safetext.FirstBytes(b.Diff.Text, mostDiff), Note: b.Diff.Note}
			delete(st.detail.Diffs, old)
			return b.Iteration
		}
		st.prompt = b.Iteration
		st.detail.Prompts[b.Iteration] = html.Prompt{Text: console(safetext.FirstBytes(b.Prompt, mostPrompt)),
			URL: fmt.Sprintf("%s/prompts/%d", st.server.runPath(st.run.ID), b.Iteration)}
		if p, ok := st.detail.Prompts[old]; ok {
			st.detail.Prompts[old] = html.Prompt{URL: p.URL}
		}
		return b.Iteration
	}
	return 0
}

// keep adds what was printed and drops the oldest of it, as far as the page has no room.
func (st *story) keep(p piece) {
	st.output = append(st.output, p)
	for st.printed += len(p.Text); st.printed > mostOutput && len(st.output) > 1; st.cut = true {
		st.printed -= len(st.output[0].Text)
		st.output = st.output[1:]
	}
}

// ended reports whether the run has ended by its records, or by its row where it has no records.
func (st *story) ended() bool {
	if len(st.detail.Records) == 0 {
		return !st.run.Times.Ended.IsZero()
	}
	return st.detail.State.End != nil
}

// asked is the prompt of the running turn.
func (st *story) asked() *html.Prompt {
	p, ok := st.detail.Prompts[st.prompt]
	last := st.detail.State.Last()
	if !ok || last != nil && last.N >= st.prompt || st.ended() {
		return nil
	}
	return &p
}

// runView is what the templates of a run's page show.
type runView struct {
	Run Run
	links
	standing
	Number   int64
	Alone    bool
	Outside  bool // the records are not for this person
	Parts    html.Parts
	Output   []piece
	Cut      bool
	Asked    *html.Prompt // of the running turn; nil: no turn runs, or its prompt is unknown
	Hints    []shownHint
	Can      can
	ToAccept []loop.Concern
}

// links are the addresses of a run's page, its repository's page, and what it is about on GitHub; empty: none.
type links struct{ Path, Home, IssueURL, PullURL string }

// standing is how a run stands, in words.
type standing struct {
	Started, Ended              bool // there are records; the run has ended
	Headline, Mood, Sign, Doing string
}

// can is what this person can do with the run as it is.
type can struct{ Stop, Retry, Hint, Approve bool }

// view is what is shown of the story now; iterations bounds the bytes of those that are shown.
func (st *story) view(a *asked, iterations int) (runView, error) {
	st.detail.Now = a.Clock()
	row := st.run
	v := runView{Run: row, Number: st.number, Alone: a.alone != nil, Output: st.output, Cut: st.cut, Asked: st.asked(),
		links: links{Path: a.runPath(row.ID), Home: "/repositories/" + row.Repository},
		standing: standing{Started: len(st.detail.Records) > 0, Ended: st.ended(), Headline: stateWord(row.State),
			Mood: mood(row.State), Sign: signs[mood(row.State)], Doing: row.Doing}}
	if row.Issue > 0 && a.alone == nil {
		v.IssueURL = a.github(row.Repository, "issues", strconv.Itoa(row.Issue))
	}
	if row.Pull > 0 {
		v.PullURL = a.github(row.Repository, "pull", strconv.Itoa(row.Pull))
	}
	if v.Outside = a.may < MayRead; v.Outside {
		return v, nil
	}
	v.Hints = st.withHints(a.given(st.run.ID), v.Ended)
	if v.Started {
		parts, err := st.detail.Parts(iterations)
		if err != nil {
			return runView{}, err
		}
		v.Parts, v.Mood, v.Sign, v.Headline = parts, parts.Mood, parts.Sign, parts.Headline
		v.Doing = ""
		if !v.Ended {
			v.Doing = safetext.UpperFirst(st.detail.InPlain().Doing())
		}
		v.ToAccept = st.detail.State.ToAccept()
		v.ToAccept = v.ToAccept[:min(len(v.ToAccept), mostAccept)]
	}
	if a.may >= MayWrite {
		v.Can = can{Stop: !v.Ended || st.run.State == Waiting, Retry: v.Ended, Hint: !v.Ended, Approve: len(v.ToAccept) > 0}
	}
	return v, nil
}

// WordIDs is the form in which the records of a run name what was said to it.
const WordIDs = "word-%d"

// given are the hints that were given on a run's page. Where they cannot be read, the page does without.
func (a *asked) given(run string) []store.Word {
	list, err := a.Runs.Words(a.r.Context(), run, 0)
	if err != nil {
		a.Log.Error("reading the hints of a run", "run", run, "error", err)
	}
	return slices.DeleteFunc(list, func(w store.Word) bool { return w.Kind != Hint })
}

// mostHints is how many hints a page lists: the newest.
const mostHints = 20

// shownHint is one in the words of the page.
type shownHint struct {
	loop.TakenHint
	Read string // "read in iteration 3"
}

// withHints are the run's hints, the newest first: those in its records, and those that were given since.
func (st *story) withHints(given []store.Word, ended bool) (list []shownHint) {
	all := slices.Clone(st.detail.State.Hints)
	for _, w := range given {
		id := fmt.Sprintf(WordIDs, w.Number)
		if !slices.ContainsFunc(all, func(h loop.TakenHint) bool { return h.ID == id }) {
			all = append(all, loop.TakenHint{Hint: loop.Hint{ID: id, By: w.Person, Text: w.Text}, At: w.At})
		}
	}
	for _, h := range slices.Backward(all[max(0, len(all)-mostHints):]) {
		read := fmt.Sprintf("read in iteration %d", h.ReadIn)
		switch {
		case h.Undone:
			read += ", not done: the result was not approved"
		case h.ReadIn == 0 && ended:
			read = "not read: the run has ended"
		case h.ReadIn == 0:
			read = "waits for the next turn or review"
		}
		list = append(list, shownHint{h, read})
	}
	return list
}

// runPage shows a run as it is; live continues from there. Outsiders see its row and no records.
func (a *asked) runPage() error {
	st := a.newStory(a.run)
	if a.may < MayRead {
		st.run = a.run.outside()
	} else if err := st.upTo(a.r.Context(), 0); err != nil {
		return err
	}
	v, err := st.view(a, iterationBytes)
	if err != nil {
		return err
	}
	return a.show("run", brief(80, a.run.Title), v)
}

// output is all that agent and checks have printed, as plain text.
func (a *asked) output() error {
	return a.plain(false, func(r store.Record) string {
		if r.Kind != OutputRecord {
			return ""
		}
		return console(string(r.Body))
	})
}

// prompt is the prompt of one iteration.
func (a *asked) prompt() error {
	n, err := strconv.Atoi(a.r.PathValue("iteration"))
	if err != nil {
		return errHidden
	}
	return a.plain(true, func(r store.Record) string {
		var b ShownBody
		if r.Kind != ShownRecord || json.Unmarshal(r.Body, &b) != nil || b.Iteration != n {
			return ""
		}
		return console(b.Prompt)
	})
}

// plain answers with what text makes of the run's records, one after another. Where that is nothing and must not be,
// there is no such page.
func (a *asked) plain(must bool, text func(store.Record) string) error {
	sent := false
	send := func(piece string) error {
		if !sent {
			a.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			a.w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		}
		sent = true
		_, err := io.WriteString(a.w, piece)
		return err
	}
	for r, err := range a.records(a.r.Context(), a.run.ID, 0) {
		if err != nil && sent {
			a.Log.Error("reading a run for plain text", "run", a.run.ID, "error", err)
			panic(http.ErrAbortHandler) // a text that stops in the middle must not look whole
		}
		if err != nil {
			return err
		}
		if piece := text(r); piece != "" && send(piece) != nil {
			return nil // the reader may be gone
		}
	}
	if must && !sent {
		return errHidden
	}
	_ = send("")
	return nil
}
