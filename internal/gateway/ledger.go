package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Limit is what a turn may spend. A field of 0 is any amount.
type Limit struct {
	Dollars float64
	Tokens  int64
	Setting string // that bounds Dollars, for messages: "maxCostUsd"
}

// holds reports whether a usage is within the limit.
func (l Limit) holds(u loop.Usage) bool {
	return (l.Dollars <= 0 || u.CostUSD <= l.Dollars) && (l.Tokens <= 0 || u.Tokens() <= l.Tokens)
}

// usageTotals adds up what a turn takes.
type usageTotals struct {
	prices  Prices
	limit   Limit
	unknown func(model string) // is called for each answer of a model whose price is not known
	queue   chan struct{}      // held by the request that waits until its reservation fits

	mu       sync.Mutex
	asked    bool                    // something was passed on
	done     loop.Usage              // by answers that have ended
	unpriced bool                    // the price of some of done is not known
	live     map[*account]bool       // answers that are on their way
	held     map[*account]loop.Usage // reservations of requests that have not ended
	last     map[string]settled      // by the requested model
	freed    chan struct{}           // closed when a reservation ends
	refused  string                  // why the first request was refused
}

// settled is a request whose answer has said what was read.
type settled struct{ bytes, tokens int64 }

// account is of one request.
type account struct {
	ledger *usageTotals
	asked  int64 // bytes of the request
	output int64 // tokens that its answers may have at most

	mu     sync.Mutex // what is below
	tally  tally
	closed bool
}

func newLedger(prices Prices, limit Limit, unknown func(model string)) *usageTotals {
	return &usageTotals{prices: prices, limit: limit, unknown: unknown, queue: make(chan struct{}, 1),
		live: map[*account]bool{}, held: map[*account]loop.Usage{}, last: map[string]settled{}, freed: make(chan struct{})}
}

// open begins to count a request as one that is answered.
func (l *usageTotals) open(a *account) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[a], l.asked = true, true
}

// close counts a request once and for all.
func (l *usageTotals) close(a *account) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed, l.asked = true, true
	delete(l.live, a)
	u, priced := a.tally.sum(l.prices, true, a.asked)
	if l.done = l.done.Plus(u); !priced {
		l.unpriced = true
		l.unknown(a.tally.name())
	}
	if a.tally.known {
		l.last[a.tally.asked] = settled{a.asked, u.Input + u.CacheRead + u.CacheWrite}
	}
}

// reserve waits until a request may be passed on, and holds what it may cost until release. The error is for its
// agent: nothing is left, or no one can know what it costs. A request that is alone passes if anything is left.
func (l *usageTotals) reserve(ctx context.Context, a *account, uncounted string) error {
	if l.limit.Dollars <= 0 && l.limit.Tokens <= 0 {
		return nil
	}
	select {
	case l.queue <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.queue }()
	for {
		wait, err := l.admit(a, uncounted)
		if err != nil || wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// admit holds what a request may cost, or returns what it has to wait for.
func (l *usageTotals) admit(a *account, uncounted string) (wait <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	spent, claimed := l.done, loop.Usage{}
	for other, held := range l.held {
		now, _, counted := other.now()
		if counted {
			continue
		}
		spent = spent.Plus(now)
		claimed.CostUSD += max(0, held.CostUSD-now.CostUSD)
		claimed.Input += max(0, held.Tokens()-now.Tokens())
	}
	price, priced := l.prices.Of(a.tally.asked)
	why := ""
	switch {
	case l.limit.Tokens > 0 && spent.Tokens() >= l.limit.Tokens:
		why = fmt.Sprintf("the budget of this run is spent (it had %d tokens left, and the turn took %d): raise maxTokens, "+
			"or ask for less at once", l.limit.Tokens, spent.Tokens())
	case l.limit.Dollars > 0 && spent.CostUSD >= l.limit.Dollars:
		why = fmt.Sprintf("the budget of this run is spent (it had %s left, and the turn spent %s): raise %s, or ask for "+
			"less at once", loop.Dollars(l.limit.Dollars), loop.Dollars(spent.CostUSD), l.limit.Setting)
	case uncounted != "":
		why = fmt.Sprintf("the cost of a request with %q cannot be counted, and this run has a limit: leave it out, or add "+
			"%[1]q to the setting gatewayThrough", uncounted)
	case l.limit.Dollars > 0 && !priced:
		why = fmt.Sprintf("the price of the model %q is not known, so %s cannot limit this run: name it in the setting "+
			"prices, or set maxTokens, maximumIterations or timeoutMinutes instead", a.tally.asked,
			l.limit.Setting)
	}
	if why != "" {
		l.refused = cmp.Or(l.refused, why)
		return nil, errors.New("ralph: " + why)
	}
	input, last := a.asked/perToken, l.last[a.tally.asked]
	if last.tokens > 0 && a.asked >= last.bytes {
		input = last.tokens + (a.asked-last.bytes)/perToken
	}
	price = price.of(input)
	need := loop.Usage{Input: input, Output: a.output,
		CostUSD: (float64(input)*max(price.Input, price.CacheWrite) + float64(a.output)*price.Output) / 1e6}
	if len(l.held) > 0 && !l.limit.holds(spent.Plus(claimed).Plus(need)) {
		return l.freed, nil
	}
	l.held[a] = need
	return nil, nil
}

// release ends a reservation. What the request has taken has been counted.
func (l *usageTotals) release(a *account) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, a)
	close(l.freed)
	l.freed = make(chan struct{})
}

// now is what a request took until now, whether its price is known, and whether that has been counted for good.
func (a *account) now() (u loop.Usage, priced, counted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, priced = a.tally.sum(a.ledger.prices, false, 0)
	return u, priced, a.closed
}

// usage is what was taken until now. Where the price of a model is not known, no sum of money is.
func (l *usageTotals) usage() (sum loop.Usage, asked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum, unpriced := l.done, l.unpriced
	for a := range l.live {
		u, priced, _ := a.now()
		sum, unpriced = sum.Plus(u), unpriced || !priced
	}
	if unpriced {
		sum.CostUSD = 0
	}
	return sum, l.asked
}

// meter reads in an answer, as it passes, what it took.
type meter struct {
	io.ReadCloser
	account *account
	answer  *answer
	idle    *time.Timer // cuts an answer of which nothing comes
	most    time.Duration
	ended   bool
}

// newMeter meters an answer, and calls idle if no byte of it has come for so long.
func newMeter(body io.ReadCloser, a *account, most time.Duration, idle func()) *meter {
	a.ledger.open(a)
	return &meter{ReadCloser: body, account: a, answer: newAnswer(&a.tally), idle: time.AfterFunc(most, idle), most: most}
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.idle.Reset(m.most)
	m.account.mu.Lock()
	m.answer.write(p[:n])
	m.account.mu.Unlock()
	if err != nil {
		m.end(err == io.EOF)
	}
	return n, err
}

// Close implements io.Closer.
func (m *meter) Close() error {
	m.end(false)
	return m.ReadCloser.Close()
}

func (m *meter) end(clean bool) {
	if m.ended {
		return
	}
	m.ended = true
	m.idle.Stop()
	m.account.mu.Lock()
	m.answer.end(clean)
	m.account.mu.Unlock()
	m.account.ledger.close(m.account)
}
