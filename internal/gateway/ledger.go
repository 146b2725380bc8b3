package gateway

import (
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
)

// usageTotals adds up what a turn takes.
type usageTotals struct {
	prices Prices
	mu     sync.Mutex
	done   map[string]Usage  // by model
	live   map[*account]bool // answers that are on their way
}

// account is of one request.
type account struct {
	ledger *usageTotals
	asked  atomic.Int64 // bytes of the request

	mu     sync.Mutex // what is below
	tally  tally
	closed bool
}

func newLedger(prices Prices) *usageTotals {
	return &usageTotals{prices: prices, done: map[string]Usage{}, live: map[*account]bool{}}
}

// open begins to count a request as one that is answered.
func (l *usageTotals) open(a *account) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[a] = true
}

// close counts a request once and for all.
func (l *usageTotals) close(a *account) {
	a.mu.Lock()
	closed := a.closed
	a.closed = true
	u := a.tally.sum(l.prices, true, a.asked.Load())
	a.mu.Unlock()
	if closed {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.live, a)
	l.done[u.Model] = l.done[u.Model].add(u)
}

// usage is what was taken until now, by model.
func (l *usageTotals) usage() []Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	sums := maps.Clone(l.done)
	for a := range l.live {
		a.mu.Lock()
		u := a.tally.sum(l.prices, false, 0)
		a.mu.Unlock()
		sums[u.Model] = sums[u.Model].add(u)
	}
	var out []Usage
	for _, model := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, sums[model])
	}
	return out
}

var requestFields = []field{{name: "model", as: asModel}}

// request reads in a request, as it passes, which model it asks.
type request struct {
	io.ReadCloser
	account *account
	pick    jsonPicker
}

func newRequest(body io.ReadCloser, a *account) *request {
	r := &request{ReadCloser: body, account: a}
	r.pick = jsonPicker{fields: requestFields, got: func(_ int, value []byte) {
		name := gjson.ParseBytes(value).Str
		a.mu.Lock()
		defer a.mu.Unlock()
		if name != "" && len(name) <= mostModel && a.tally.protocol != Gemini { // whose path says it
			a.tally.asked = name
		}
	}}
	return r
}

// Read implements io.Reader.
func (r *request) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.account.asked.Add(int64(n))
	r.pick.write(p[:n])
	return n, err
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

// newMeter meters an answer; idle is called when nothing has come of it for so long.
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
