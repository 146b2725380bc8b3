package agent

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// ReportsUsage says whether it is told what a turn cost and how many tokens it took, by the agent or by its gateway. Without
// that no one can hold it to what it may spend.
func (o Options) ReportsUsage() (cost, tokens bool) {
	d, _ := dialectOf(o.Command)
	cost, tokens = d.prices && !o.Text, d.counts && !o.Text
	if o.Gateway != nil {
		cost, tokens = cost || o.Gateway.Prices(o.Model), true
	}
	return cost, tokens
}

// longestAgo is how many messages are remembered by their ids: those of several contexts come in turn.
const longestAgo = 32

// count adds up what the messages had read, which is all there is to say of a turn that was killed before its result.
// All blocks of a message tell the same. A turn that continues although it has spent more than is left is stopped: it
// asks its model again, or will as soon as its tool has run. One that has only its word to say is let say it, which
// costs nothing more.
func (r *reader) count(e stream.Event) {
	fresh := !slices.Contains(r.counted, e.Message)
	if e.Message == "" { // a sign of life, or a message without an id, whose usage is told once
		fresh = e.Usage != (loop.Usage{})
	}
	beyond := fresh && r.beyond() != ""
	if fresh {
		r.seen = r.seen.Plus(e.Usage)
	}
	if fresh && e.Message != "" {
		if r.counted = append(r.counted, strings.Clone(e.Message)); len(r.counted) > longestAgo {
			r.counted = slices.Delete(r.counted, 0, 1)
		}
	}
	if why := r.beyond(); r.over == "" && why != "" && (beyond || e.Kind == stream.ToolStart) && r.talk.stop != nil {
		r.over = why
		r.talk.stop()
	}
}

// beyond says of which limit the turn has spent more than was left; empty: of none.
func (r *reader) beyond() string {
	switch left := r.talk.Left; {
	case left.Tokens > 0 && r.seen.Tokens() > left.Tokens:
		return fmt.Sprintf("the agent was stopped, since the run had %d tokens left and it took %d: raise maxTokens, or "+
			"ask for less at once", left.Tokens, r.seen.Tokens())
	case left.CostUSD > 0 && r.seen.CostUSD > left.CostUSD:
		return fmt.Sprintf("the agent was stopped, since the run had %s left and it spent %s: raise %s, or ask for "+
			"less at once", loop.Dollars(left.CostUSD), loop.Dollars(r.seen.CostUSD), left.Setting())
	}
	return ""
}

// settle marks a turn that ended because of what the run may spend. Its tokens are those that were seen when its own
// account of it, if it gave any, has fewer: that would let it begin again and again.
func (a *Agent) settle(turn *loop.Turn, reader *reader, end proc.Result) {
	switch {
	case reader.over != "" && end.Class == proc.Cancelled:
		turn.Class, turn.Reason, turn.Ours = loop.Spent, reader.over, true
	case turn.Class == loop.Spent && a.dialect.holds != nil && a.dialect.holds(a.options) != "":
		turn.Reason, turn.Ours = a.dialect.name+" stopped, since the run had "+loop.Dollars(a.options.Left.CostUSD)+
			" left: raise "+a.options.Left.Setting()+", or ask for less at once", true
	}
	if turn.Ours && turn.Usage.Tokens() < reader.seen.Tokens() {
		cost := max(turn.Usage.CostUSD, reader.seen.CostUSD)
		turn.Usage = reader.seen
		turn.Usage.CostUSD = cost
	}
}

const claudeBudgetFlag = "--max-budget-usd"

// claudeHolds is the amount that the CLI is told to stop at: what is left, unless its user has told it to stop before
// that; then it is empty. It is rounded up, so that what was spent when it stops is what was left at least.
func claudeHolds(o Options) string {
	if o.Left.CostUSD <= 0 {
		return ""
	}
	for i, flag := range o.Flags {
		value, joined := strings.CutPrefix(flag, claudeBudgetFlag+"=")
		if flag == claudeBudgetFlag && i+1 < len(o.Flags) {
			value, joined = o.Flags[i+1], true
		}
		if own, err := strconv.ParseFloat(value, 64); joined && err == nil && own <= o.Left.CostUSD {
			return ""
		}
	}
	return strconv.FormatFloat(math.Ceil(o.Left.CostUSD*1e4)/1e4, 'f', -1, 64)
}
