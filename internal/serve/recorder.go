package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/notify"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

const (
	onePiece    = 16 << 10 // bytes of the log in one record
	mostPrinted = 64 << 20 // bytes of the log of one process
	mostShown   = 1 << 20  // bytes of a prompt or a diff as JSON; senders stay far below
)

// recording is what a job's outcome is written to.
type recording struct {
	*parts
	m       *metrics
	notices *notices
	room    func(least int64) error // fails when fewer bytes than that are free for jobs
}

// recorder writes down what a job's process tells: its row, and the records that pages show. It implements
// launch.Listener. The process keeps what it has told until the database has it.
type recorder struct {
	recording
	log *slog.Logger

	mu      sync.Mutex
	row     store.Run
	detail  detail
	state   loop.State
	begun   bool      // a run began, or continued
	earlier int       // records of the run that earlier processes have told
	settled bool      // earlier runs of the task have been ended
	step    time.Time // when the turn, or the checks, began
	printed int       // bytes of the log
	next    int64     // number of the next record
	changed bool      // the row must be stored
	fresh   store.Progress
}

// newRecorder begins to write down an attempt of a run. Of an answer and of a sweep nothing is stored before a run
// begins.
func (w recording) newRecorder(row store.Run) *recorder {
	return &recorder{recording: w, log: w.o.Log.With("run", row.ID), row: row, detail: detailOf(row), next: 1}
}

// Hear implements launch.Listener.
func (r *recorder) Hear(ctx context.Context, from *launch.Running, told []work.ToServer, after int64) ([]work.Word, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range told {
		switch {
		case m.Begun != nil:
			r.begin(*m.Begun)
		case m.Record != nil:
			r.record(*m.Record)
		case m.Shown != nil:
			if body, err := json.Marshal(web.ShownBody(*m.Shown)); err == nil && len(body) <= mostShown {
				r.add(web.ShownRecord, r.o.Clock(), body)
			}
		case m.Notice != nil && r.row.Kind == "":
			r.notices.tell(ctx, r.row, *m.Notice)
		case m.Output != "":
			r.print(m.Output)
		}
	}
	if err := r.flush(ctx); err != nil {
		return nil, err
	}
	if err := r.room(leastToGoOn); err != nil { // it would fail, through no fault of the run
		r.log.Warn("a run is handed on, and waits for room", "error", err)
		from.HandOn()
	}
	said, err := r.s.Words(ctx, r.row.ID, after)
	return wordsOf(said), err
}

// wordsOf are words in the form that a process gets.
func wordsOf(said []store.Word) (words []work.Word) {
	for _, w := range said {
		word := work.Word{Number: w.Number}
		switch w.Kind {
		case web.Stop:
			word.Stop = &work.Stop{By: w.Person, Why: w.Text, At: w.At}
		case web.Hint:
			word.Hint = &loop.Hint{ID: fmt.Sprintf(web.WordIDs, w.Number), By: w.Person, Text: w.Text}
		}
		words = append(words, word)
	}
	return words
}

// begin notes which run the records that follow are of; see bot.StartedRun for those that are known already.
func (r *recorder) begin(b bot.StartedRun) {
	if r.detail.Journal != b.Run { // another run, whose records are all new
		r.detail.Journal, r.detail.Known = b.Run, 0
	}
	r.detail.Known = min(r.detail.Known, b.Records)
	r.state, r.begun, r.changed, r.earlier = loop.State{}, true, true, b.Records
	r.row.Kind, r.row.Title, r.row.Subject, r.detail.Issue, r.detail.Branch = "", b.Title, b.Task, b.Issue, b.Branch
}

// record takes in a record of the run's journal. What an earlier process of the run has told is not written down again.
//
// A run that is further than any process of it was before begins to count its kills again: it has taken a turn or judged
// one. A turn that has only begun is nothing, since it may be what kills the process.
func (r *recorder) record(m work.Record) {
	before := r.detail.Shown
	r.state = r.state.With(m.Record)
	r.describe(m.Record)
	if m.Number > r.earlier {
		r.measure(m.Record, before)
	}
	if m.Number <= r.detail.Known {
		return
	}
	body, err := json.Marshal(m.Record)
	if err != nil {
		return // it came as JSON
	}
	r.detail.Known = m.Number
	if len(body) > store.LargestBody {
		r.log.Error("a record of the run is too large to be stored", "number", m.Number, "bytes", len(body))
	} else {
		r.add(web.FactRecord, m.Record.At, body)
	}
	if slices.Contains([]loop.RecordType{loop.Baselined, loop.Turned, loop.Committed, loop.Judged}, m.Record.Type) {
		r.row.Kills = 0
	}
}

// add appends a record.
func (r *recorder) add(kind string, at time.Time, body []byte) {
	r.fresh.Records = append(r.fresh.Records, store.Record{Number: r.next, At: at, Kind: kind, Body: body})
	r.next++
}

// print appends a piece of the log.
func (r *recorder) print(text string) {
	if r.printed > mostPrinted {
		return
	}
	if r.printed += len(text); r.printed > mostPrinted {
		text = "… the rest of the log is left out\n"
	}
	last := len(r.fresh.Records) - 1
	if last >= 0 && r.fresh.Records[last].Kind == web.OutputRecord && len(r.fresh.Records[last].Body) < onePiece {
		r.fresh.Records[last].Body = append(r.fresh.Records[last].Body, text...)
		return
	}
	r.add(web.OutputRecord, r.o.Clock(), []byte(text))
}

// flush stores what is new, with the row as it is with that. The error says that the database is away.
func (r *recorder) flush(ctx context.Context) error {
	if r.row.Kind != "" {
		r.fresh = store.Progress{}
		return nil
	}
	if r.changed || len(r.fresh.Records) > 0 {
		r.fresh.Run = r.row
		r.fresh.Run.Detail = r.detail.text()
		if err := r.stored(r.s.PutProgress(ctx, r.fresh)); err != nil {
			return err
		}
		r.fresh, r.changed = store.Progress{}, false
	}
	if r.begun && !r.settled { // the run starts from there
		if err := r.stored(r.s.EndWaiting(ctx, r.row, continued, "a later request resumed it")); err != nil {
			return err
		}
		r.settled = true
	}
	return nil
}

// stored lets what the database refuses pass, since it refuses that again.
func (r *recorder) stored(err error) error {
	if err != nil && !errors.Is(err, store.ErrUnavailable) {
		r.log.Error("a part of what a run tells is not stored", "error", err)
		return nil
	}
	return err
}

// measure notes how long turns and checks took, and the tokens and dollars that are new since before.
func (r *recorder) measure(of loop.Record, before web.Shown) {
	r.m.tokens.Add(max(0, float64(r.detail.Tokens-before.Tokens)))
	r.m.cost.Add(max(0, r.detail.Dollars-before.Dollars))
	switch took := of.At.Sub(r.step).Seconds(); {
	case of.Type == loop.TurnBegun, of.Type == loop.Committed:
		r.step = of.At
	case r.step.IsZero():
	case of.Type == loop.Turned:
		r.m.turns.Observe(took)
	case of.Type == loop.Judged:
		r.m.checks.Observe(took)
	}
}

// describe brings the row up to date.
func (r *recorder) describe(of loop.Record) {
	s := &r.state
	r.detail.Agent, r.detail.Pull = s.Start.Agent, s.Post.Pull
	r.detail.Iteration, r.detail.Of = len(s.Iterations), s.MaxIterations
	r.detail.Dollars, r.detail.Tokens = s.Usage.CostUSD, s.Usage.Input+s.Usage.Output+s.Usage.CacheRead+s.Usage.CacheWrite
	if text, said := doing[of.Type]; said {
		r.detail.Doing = text
	}
	if of.Type == loop.TurnBegun {
		r.detail.Iteration = of.Iteration
	}
	r.changed = true
}

// doing is what a run does after a record.
var doing = map[loop.RecordType]string{
	loop.Started: "preparing", loop.Resumed: "preparing", loop.Baselined: "checks have run on the base",
	loop.TurnBegun: "the agent works", loop.Turned: "checks run", loop.Committed: "checks run",
	loop.Paused: "waits before the next try", loop.Judged: "checks have run", loop.Ended: "tells the end",
}

// end stores the rest, with the final row.
func (r *recorder) end(final func(*store.Run, *detail)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	final(&r.row, &r.detail)
	r.detail.Doing, r.changed = "", true
	r.insist(r.row.ID, func() error { return r.flush(context.Background()) })
}

// What a notice may have.
const (
	mostTitle = 300  // characters
	mostText  = 4000 // characters
)

// notices tells others how runs ended. The addresses are of this process alone.
type notices struct {
	places  []notify.Place
	environ []string // what a command gets
	log     *slog.Logger
	telling sync.WaitGroup
}

func newNotices(environ []string, log *slog.Logger) *notices {
	return &notices{places: notify.Places(environ), environ: proc.Environment(environ, proc.Allowed), log: log}
}

// tell tells the places that a notice names how a run ended, without making anyone wait. Whose run it is is known here
// better than where the notice comes from.
func (n *notices) tell(ctx context.Context, run store.Run, m work.Notice) {
	m.Message.Repository = run.Repository
	m.Message.Title = safetext.FirstRunes(safetext.OneLine(m.Message.Title), mostTitle)
	m.Message.Text = safetext.FirstRunes(m.Message.Text, mostText)
	places, missing := notify.Named(n.places, m.To)
	for _, name := range missing {
		n.log.Warn("no notification was sent: the environment variable is not set", "variable", name, "run", run.ID)
	}
	ctx = context.WithoutCancel(ctx)
	for _, place := range places {
		n.telling.Go(func() {
			if err := place.Send(ctx, m.Message, n.environ); err != nil {
				n.log.Warn("a notification failed", "run", run.ID, "error", err)
			}
		})
	}
}

// keep stores which runner does the job, as far as the run has a row.
func (r *recorder) keep(c launch.Claim) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.detail.Claim = c; r.row.Kind != "" {
		return nil
	}
	if c.Nonce != "" && c.Name == "" {
		r.detail.Doing = "waits for a runner"
	}
	row := r.row
	row.Detail = r.detail.text()
	return r.s.PutRun(context.Background(), row)
}

const storeAgain = time.Second

// insist stores something of a run that no one else writes now, however long the database is away.
func (w recording) insist(run string, write func() error) {
	err := write()
	for ; errors.Is(err, store.ErrUnavailable); err = write() {
		w.o.Log.Warn("the outcome of a run waits for the database", "run", run, "error", err)
		time.Sleep(storeAgain)
	}
	if err != nil {
		w.o.Log.Error("the outcome of a run is not stored", "run", run, "error", err)
	}
}
