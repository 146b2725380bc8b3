package lease

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
)

// watch is a clock that tests set.
type watch struct{ passed atomic.Int64 }

func newWatch() *watch { return &watch{} }

func (w *watch) now() time.Time {
	return time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC).Add(time.Duration(w.passed.Load()))
}

func (w *watch) pass(d time.Duration) { w.passed.Add(int64(d)) }

// leases opens a process's way to the leases of the sandbox's remote.
func (b *sandbox) leases(clock *watch, change ...func(*git.Options)) *Client {
	b.t.Helper()
	o := b.options()
	o.Root = b.dir
	for _, c := range change {
		c(&o)
	}
	l, err := Open(b.ctx, o, clock.now)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(l.Close)
	return l
}

func mine(n int) Lease {
	return Lease{Task: "issue-42", Run: "20261121-053000-7f3a", Owner: fmt.Sprintf("workflow run %d, attempt 1", n),
		RunURL: fmt.Sprintf("https://github.com/a/b/actions/runs/%d", n)}
}

func TestLeaseFromTakeToRelease(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	one, two := b.leases(clock), b.leases(clock)
	began := clock.now()
	held := must[Lease](t)(one.Take(b.ctx, mine(77)))
	if held.Owner != mine(77).Owner || !held.Until.Equal(began.Add(Time)) || !held.Alive(began) {
		t.Fatalf("taken: %+v", held)
	}
	var taken *HeldError
	if _, err := two.Take(b.ctx, mine(78)); !errors.As(err, &taken) ||
		err.Error() != "issue-42 is already running (workflow run 77, attempt 1)" {
		t.Fatal(err)
	}
	clock.pass(2 * time.Minute)
	if again := must[Lease](t)(one.Take(b.ctx, mine(77))); !again.Taken.Equal(began) ||
		!again.Until.Equal(began.Add(7*time.Minute)) {
		t.Fatalf("ours is ours: %+v", again)
	}
	held = must[Lease](t)(one.Look(b.ctx, held))
	clock.pass(time.Minute)
	held = must[Lease](t)(one.Extend(b.ctx, held))
	if seen := b.seen(two); !seen.Until.Equal(began.Add(8*time.Minute)) || seen.RunURL != mine(77).RunURL ||
		seen.Run != mine(77).Run {
		t.Fatal(seen)
	}
	if got := b.sh(b.remote,
		`git rev-list --count refs/ralph/leases/issue-42; git ls-tree -r --name-only refs/ralph/leases/issue-42`); got != "1\nlease.json\n" {
		t.Fatalf("a lease has no history and one file: %q", got)
	}
	for range 2 { // what is gone is not an error
		if err := one.Release(b.ctx, held); err != nil {
			t.Fatal(err)
		}
	}
	if seen := b.seen(two); seen != (Lease{}) {
		t.Fatal(seen)
	}
	must[Lease](t)(two.Take(b.ctx, mine(78)))
}

// seen is the lease on the remote, as a client reads it.
func (b *sandbox) seen(c *Client) Lease {
	b.t.Helper()
	return must[Lease](b.t)(c.at(b.ctx, "issue-42", Lease{}))
}

// TestLeaseAfterAKilledGit: a git that was broken off leaves locks, and the lease is kept all the same.
func TestLeaseAfterAKilledGit(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	root := t.TempDir()
	one, two := b.leases(clock, func(o *git.Options) { o.Root = root }), b.leases(clock)
	held := must[Lease](t)(one.Take(b.ctx, mine(77)))
	heard, err := two.AskStop(b.ctx, "issue-42", Stop{By: "alice"}) // so that there is something to fetch
	if !heard || err != nil {
		t.Fatal(heard, err)
	}
	here := must[[]string](t)(filepath.Glob(filepath.Join(root, "*", "repo.git")))
	if len(here) != 1 {
		t.Fatal(here)
	}
	for _, name := range []string{"refs/ralph/leases/issue-42", "refs/ralph/made", "packed-refs", "shallow"} {
		lock := filepath.Join(here[0], name+".lock")
		os.MkdirAll(filepath.Dir(lock), 0o755)
		os.WriteFile(lock, nil, 0o644)
	}
	held = must[Lease](t)(one.Look(b.ctx, held))
	clock.pass(time.Minute)
	if held = must[Lease](t)(one.Extend(b.ctx, held)); held.Stop == nil {
		t.Fatal("the wish was not read")
	}
}

// TestLeaseIsCheap: who looks asks about one ref, and fetches nothing that it has.
func TestLeaseIsCheap(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	_, address := hub(t)
	to := must[*url.URL](t)(url.Parse(address))
	var asked []string
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, to.Host
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			asked = append(asked, r.Method+" "+r.URL.Path)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	l := b.leases(clock, func(o *git.Options) { o.Remote = git.Remote{URL: s.URL + to.Path, Token: token} })
	held := must[Lease](t)(l.Take(b.ctx, mine(77)))
	asked = nil
	must[Lease](t)(l.Look(b.ctx, held))
	if got := strings.Join(asked, ", "); got != "GET /alice/demo.git/info/refs, POST /alice/demo.git/git-upload-pack" {
		t.Errorf("a look asked %s", got)
	}
}

// TestLeaseRace: of any number of processes that want a run at the same moment, one gets it, whether nobody had it or
// its lease was over.
func TestLeaseRace(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	gh, url := hub(t)
	all := make([]*Client, 8)
	for i := range all {
		all[i] = b.leases(clock, func(o *git.Options) { o.Remote = git.Remote{URL: url, Token: token} })
	}
	rounds := []int{2, 2, len(all)}
	if every() {
		rounds = append(rounds, 2, 2, 2, 2, 2, len(all), 2)
	}
	for round, n := range rounds {
		var won []int
		for i, err := range together(n, func(i int) error { _, err := all[i].Take(b.ctx, mine(i)); return err }) {
			var held *HeldError
			if err == nil {
				won = append(won, i)
			} else if !errors.As(err, &held) || held.Lease.Owner == "" {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if len(won) != 1 {
			t.Fatalf("round %d: %d processes hold the run", round, len(won))
		}
		if seen := b.seen(all[(won[0]+1)%n]); seen.Owner != mine(won[0]).Owner {
			t.Fatalf("round %d: %d won, and the remote says %+v", round, won[0], seen)
		}
		clock.pass(Time + Slack) // the winner has died
	}
	for _, p := range gh.Problems() {
		t.Error(p)
	}
}

// hub is GitHub with a repository.
func hub(t *testing.T) (gh *fake.GitHub, url string) {
	t.Helper()
	gh, err := fake.New(fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gh.Close)
	if err := gh.AddRepo("alice", "demo", "main"); err != nil {
		t.Fatal(err)
	}
	gh.AddToken(token, "github-actions[bot]", fake.Actions)
	return gh, gh.URL() + "/alice/demo.git"
}

// together does something at the same moment in n ways.
func together(n int, do func(int) error) []error {
	errs, ready, done := make([]error, n), make(chan struct{}), sync.WaitGroup{}
	for i := range n {
		done.Go(func() {
			<-ready
			errs[i] = do(i)
		})
	}
	close(ready)
	done.Wait()
	return errs
}

// TestLeaseExpires: a process that was killed is held for, for as long as its lease says, and for clocks that differ.
func TestLeaseExpires(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	dead, other := b.leases(clock), b.leases(clock)
	held := must[Lease](t)(dead.Take(b.ctx, mine(77)))
	var taken *HeldError
	for _, d := range []time.Duration{Time, Slack - time.Second} {
		clock.pass(d)
		if _, err := other.Take(b.ctx, mine(78)); !errors.As(err, &taken) {
			t.Fatalf("%s after it was taken: %v", clock.now().Sub(held.Taken), err)
		}
	}
	clock.pass(time.Second)
	must[Lease](t)(other.Take(b.ctx, mine(78)))

	// It was not dead, only away: it must not go on.
	var lost *LostError
	_, err := dead.Extend(b.ctx, held)
	if !errors.As(err, &lost) || lost.Now.Owner != mine(78).Owner ||
		!strings.Contains(err.Error(), "workflow run 78, attempt 1 has taken it over") {
		t.Fatal(err)
	}
	if _, err := dead.Look(b.ctx, held); !errors.As(err, &lost) {
		t.Fatal(err)
	}
	if err := dead.Release(b.ctx, held); !errors.As(err, &lost) {
		t.Fatal(err)
	}
	if seen := b.seen(dead); seen.Owner != mine(78).Owner {
		t.Fatal("somebody else's lease was touched", seen)
	}
	b.sh(b.remote, `git update-ref -d refs/ralph/leases/issue-42`)
	if _, err := dead.Extend(b.ctx, held); !errors.As(err, &lost) || lost.Now.Task != "" {
		t.Fatal(err)
	}
}

func TestAskStop(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	runner, asker := b.leases(clock), b.leases(clock)
	wish := Stop{By: "alice", Why: "issue closed", At: clock.now()}
	if heard, err := asker.AskStop(b.ctx, "issue-42", wish); heard || err != nil {
		t.Fatal("nobody is there to hear it", heard, err)
	}
	held := must[Lease](t)(runner.Take(b.ctx, mine(77)))
	for _, wish := range []Stop{wish, {By: "bob"}} { // the first one stays
		if heard, err := asker.AskStop(b.ctx, "issue-42", wish); err != nil || !heard {
			t.Fatal(heard, err)
		}
	}
	looked := must[Lease](t)(runner.Look(b.ctx, held))
	if looked.Stop == nil || looked.Stop.String() != "issue closed by alice" || !looked.Stop.At.Equal(wish.At) {
		t.Fatalf("looked: %+v", looked.Stop)
	}
	clock.pass(time.Minute)
	// who has not looked yet hears of it, and keeps the run to end it in peace
	longer := must[Lease](t)(runner.Extend(b.ctx, held))
	if longer.Stop == nil || !longer.Until.Equal(clock.now().Add(Time)) {
		t.Fatalf("extended: %+v", longer)
	}
	if err := runner.Release(b.ctx, held); err != nil { // though it has moved
		t.Fatal(err)
	}
	must[Lease](t)(runner.Take(b.ctx, mine(77)))
	clock.pass(Time + Slack)
	before := b.sh(b.remote, `git rev-parse refs/ralph/leases/issue-42`)
	if heard, err := asker.AskStop(b.ctx, "issue-42", wish); heard || err != nil ||
		b.sh(b.remote, `git rev-parse refs/ralph/leases/issue-42`) != before {
		t.Fatal("the dead hear nothing", heard, err)
	}
}

// TestHints: what is said to a run is there once, in order and bounded, whoever says it; what it has not heard stays.
func TestHints(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	runner, asker := b.leases(clock), b.leases(clock)
	say := func(c *Client, id, text string) {
		t.Helper()
		if err := c.AddHint(b.ctx, Hint{ID: id, Task: "issue-42", By: "ali ce`", Text: text, At: clock.now()}); err != nil {
			t.Fatal(err)
		}
	}
	say(asker, "comment-1", "first")
	say(asker, "comment-1", "first, once more")
	say(runner, "comment-2", strings.Repeat("x", 5000))
	got := must[[]Hint](t)(runner.Hints(b.ctx, "issue-42"))
	if len(got) != 2 || got[0].Text != "first" || got[0].By != "alice" || len(got[1].Text) != hintBytes ||
		!got[0].At.Equal(clock.now()) {
		t.Fatalf("%+.200v", got)
	}
	if got := must[[]Hint](t)(runner.Hints(b.ctx, "issue-1")); len(got) != 0 {
		t.Errorf("another task: %+v", got)
	}
	if err := runner.ForgetHints(b.ctx, "issue-42", []string{"comment-1"}); err != nil ||
		len(must[[]Hint](t)(asker.Hints(b.ctx, "issue-42"))) != 2 {
		t.Error("what nobody has heard is gone", err)
	}
	if err := runner.ForgetHints(b.ctx, "issue-42", []string{"comment-1", "comment-2"}); err != nil ||
		b.sh(b.remote, "git for-each-ref refs/ralph/hints") != "" {
		t.Error("what was heard is left", err)
	}
	for i := range mostHints + 5 {
		say(asker, fmt.Sprintf("comment-%d", i), "again")
	}
	if got := must[[]Hint](t)(runner.Hints(b.ctx, "issue-42")); len(got) != mostHints || got[0].ID != "comment-5" {
		t.Errorf("%d hints, from %s on", len(got), got[0].ID)
	}
	b.sh(b.remote, `blob=$(echo nonsense | git hash-object -w --stdin)
tree=$(printf '100644 blob %s\thints.json\n' $blob | git mktree)
git update-ref refs/ralph/hints/issue-42 $(git commit-tree -m x $tree)`)
	if got, err := runner.Hints(b.ctx, "issue-42"); err != nil || len(got) != 0 {
		t.Errorf("nonsense: %+v, %v", got, err)
	}
}

// TestAskStopWhileItMoves: the wish is not lost under the holder's renewals, and the holder does not lose its lease to
// it.
func TestAskStopWhileItMoves(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	runner, asker := b.leases(clock), b.leases(clock)
	held := must[Lease](t)(runner.Take(b.ctx, mine(77)))
	var longer Lease
	errs := together(2, func(i int) (err error) {
		if i == 0 {
			for range 5 {
				clock.pass(time.Second)
				if longer, err = runner.Extend(b.ctx, held); err != nil {
					return err
				}
			}
			return nil
		}
		heard, err := asker.AskStop(b.ctx, "issue-42", Stop{By: "alice"})
		if !heard && err == nil {
			err = errors.New("nobody heard it")
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if now := must[Lease](t)(runner.Look(b.ctx, longer)); now.Stop == nil || now.Stop.By != "alice" {
		t.Fatalf("%+v", now)
	}
}

func TestTextsOfLeases(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{nameText("workflow run 77, attempt 1"), "workflow run 77, attempt 1"},
		{nameText("@all [x](http://evil.example) #1 `<b>`\r\n*_~"), "all x(httpevilexample) 1 b"},
		{loginText("dependabot[bot]"), "dependabot[bot]"},
		{loginText("@alice <b>"), "aliceb"},
		{plainText(" took the label ralph:running\toff\x1b[2J\u202e "), "took the label ralph:running off[2J"},
		{webAddress("https://github.com/a/b/actions/runs/77"), "https://github.com/a/b/actions/runs/77"},
		{webAddress("javascript:alert(1)"), ""},
		{webAddress("https://user:pass@evil.example/"), ""},
		{webAddress("https://evil.example/" + strings.Repeat("x", maxURL)), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

// every reports whether all rows of all tables are played.
func every() bool { return os.Getenv("RALPH_TEST_EVERY_FAULT") != "" }

// TestHostileLease: whatever lies at the ref, nothing of it gets further than a sentence, and nothing holds a run for
// ever. In a usual test run, one of each kind lies on a remote, and of the others the text alone is read.
func TestHostileLease(t *testing.T) {
	clock := newWatch()
	onRemote := []string{"ours", "nor from a date to come", "not JSON", "too large", "no commit", "no file"}
	soon, late := clock.now().Add(time.Minute).Format(time.RFC3339), "2099-01-01T00:00:00Z"
	const ours, unread = `{"version":1,"key":"k","task":"issue-42","owner":"o","until":"`, "a process whose lease cannot be read: "
	const form = unread + "it is not written as ralph writes it"
	owned := func(by string) string { return strings.Replace(ours, `"o"`, `"`+by+`"`, 1) + soon + `"}` }
	for _, tt := range []struct {
		name, file, date string
		who, until       string // "" is not held at all
	}{
		{"ours", ours + soon + `"}`, "", "o", "09:31:30"},
		{"no time is believed for longer than the longest lease", ours + late + `"}`, "", "o", "10:00:30"},
		{"nor from a date to come", ours + late + `"}`, late, "", ""},
		{"what commands a terminal", owned(`\u001b[31mred\n\u202e@all`), "", "31mred all", "09:31:30"},
		{"a long name", owned(strings.Repeat("x", 3000)), "", strings.Repeat("x", 119) + "…", "09:31:30"},
		{"not JSON", `hello`, "", form, "09:40:30"},
		{"more than it", ours + soon + `"} {}`, "", form, "09:40:30"},
		{"an unknown field", ours + soon + `","sudo":true}`, "", form, "09:40:30"},
		{"a year that cannot be written down again", ours + soon + `","taken_at":"0000-01-01T00:00:00+23:59"}`, "", form,
			"09:40:30"},
		{"a key that leaves no room for a wish", ours + soon + `","key":"` + strings.Repeat("k", 3800) + `"}`, "", form,
			"09:40:30"},
		{"of another task", ours + soon + `","task":"issue-43"}`, "", unread + "it is of another task", "09:40:30"},
		{"a newer ralph", ours + soon + `","version":2}`, "", unread + "another version of ralph wrote it", "09:40:30"},
		{"without a time", `{"version":1,"key":"k","task":"issue-42"}`, "",
			unread + "it does not say whose it is and until when", "09:40:30"},
		{"too large", owned(strings.Repeat("x", 5000)), "", unread + "it has no file lease.json of at most 4096 bytes",
			"09:40:30"},
		{"unreadable and to come", `hello`, late, "", ""},
		{"no commit", "a blob", "", "", ""},
		{"no file", "", "", unread + "it has no file lease.json of at most 4096 bytes", "09:40:30"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			date := tt.date
			if date == "" {
				date = clock.now().Format(time.RFC3339)
			}
			holds := func(seen Lease) {
				t.Helper()
				if alive := seen.Alive(clock.now()); alive != (tt.until != "") || alive &&
					(seen.Ends().UTC().Format("15:04:05") != tt.until || seen.Who() != tt.who) {
					t.Errorf("%q until %s, alive: %v", seen.Who(), seen.Ends().UTC(), alive)
				}
			}
			if !every() && !slices.Contains(onRemote, tt.name) {
				holds(read("issue-42", git.RefFile{Commit: "c", Content: []byte(tt.file + "\n"),
					Date: must[time.Time](t)(time.Parse(time.RFC3339, date))}, clock.now()))
				return
			}
			b := newSandbox(t)
			b.sh(b.dir, `git init -q evil; cat >evil/lease.json <<'END'
`+tt.file+`
END`)
			make := `git add .; GIT_COMMITTER_DATE=` + date +
				` git commit -qm x; git push -q ../remote.git HEAD:refs/ralph/leases/issue-42`
			switch tt.name {
			case "no commit":
				make = `git push -q ../remote.git $(git hash-object -w lease.json):refs/ralph/leases/issue-42`
			case "no file":
				make = `git mv -k x y; mv lease.json x; ` + make
			}
			b.sh(b.dir+"/evil", make)
			l := b.leases(clock)
			seen := b.seen(l)
			holds(seen)
			_, held, err := RecordsAndLeases(b.ctx,
				git.Options{Root: b.dir, Remote: git.Remote{URL: b.remote}, Env: b.environment()}, clock.now)
			if err != nil || held["issue-42"].Ends() != seen.Ends() {
				t.Error("listed:", held, err)
			}
			var taken *HeldError
			if _, err := l.Take(b.ctx, mine(77)); errors.As(err, &taken) != (tt.until != "") || taken == nil && err != nil {
				t.Error("taken:", err)
			}
			if strings.HasPrefix(tt.who, "a process") {
				if heard, err := l.AskStop(b.ctx, "issue-42", Stop{}); heard || err == nil ||
					!strings.Contains(err.Error(), "cancel the workflow run") {
					t.Error("asked:", heard, err)
				}
			}
		})
	}
}

// TestGiveBack: the outcome and the end of the lease reach the remote in one step.
func TestGiveBack(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	runner, asker := b.leases(clock), b.leases(clock)
	tree := b.checkout()
	saved := func() string {
		return must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte("end")}, "r"))
	}
	refs := func() string {
		return b.sh(b.remote,
			`git for-each-ref --format='%(refname)' refs/ralph; git rev-parse -q --verify refs/ralph/runs/issue-42 || :`)
	}
	for _, tt := range []struct {
		name string
		push func() error
	}{
		{"with the record alone", func() error { return tree.PushRecord(b.ctx) }},
		{"with the branch", func() error {
			b.sh(tree.Dir(), `echo more >>a.txt`)
			must[loop.Commit](t)(tree.Commit(b.ctx, tree.Head(), "one"))
			_, err := tree.Push(b.ctx)
			return err
		}},
	} {
		held := must[Lease](t)(runner.Take(b.ctx, mine(77)))
		if heard, err := asker.AskStop(b.ctx, "issue-42", Stop{By: "alice"}); !heard || err != nil {
			t.Fatal(heard, err)
		}
		before := refs()
		record := saved()
		tree.DeleteWithRecord(held.Ref())
		var moved *git.RefMovedError
		if err := tt.push(); !errors.As(err, &moved) || refs() != before {
			t.Fatalf("%s: %v, the remote has %s", tt.name, err, refs())
		}
		held = must[Lease](t)(runner.Look(b.ctx, held))
		tree.DeleteWithRecord(held.Ref())
		if err := tt.push(); err != nil || refs() != "refs/ralph/runs/issue-42\n"+record+"\n" {
			t.Fatalf("%s: %v, the remote has %s", tt.name, err, refs())
		}
	}
	record := saved() // nothing of it stays for the push after
	if err := tree.PushRecord(b.ctx); err != nil || refs() != "refs/ralph/runs/issue-42\n"+record+"\n" {
		t.Fatal(err, refs())
	}
}

func TestDryRunTakesNoLease(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	dry := b.leases(clock, func(o *git.Options) { o.DryRun = true })
	held := must[Lease](t)(dry.Take(b.ctx, mine(77)))
	if err := dry.Release(b.ctx, held); err != nil {
		t.Fatal(err)
	}
	must[Lease](t)(b.leases(clock).Take(b.ctx, mine(78)))
	var taken *HeldError
	if _, err := dry.Take(b.ctx, mine(77)); !errors.As(err, &taken) {
		t.Fatal(err)
	}
	if heard, err := dry.AskStop(b.ctx, "issue-42", Stop{By: "alice"}); !heard || b.seen(dry).Stop != nil || err != nil {
		t.Fatal(heard, err)
	}
}

// TestLeaseWhenTheRemoteIsAway: an error of the network is neither a loss nor a lease.
func TestLeaseWhenTheRemoteIsAway(t *testing.T) {
	b, clock := newSandbox(t), newWatch()
	gh, url := hub(t)
	l := b.leases(clock, func(o *git.Options) { o.Remote = git.Remote{URL: url, Token: token} })
	held := must[Lease](t)(l.Take(b.ctx, mine(77)))
	gh.Fail(fake.Fault{Match: "POST /.../git-receive-pack", DropAfter: true}) // it arrives, and the answer does not
	clock.pass(time.Minute)
	held = must[Lease](t)(l.Extend(b.ctx, held))
	gh.Fail(fake.Fault{Match: "", Status: 403, Times: -1})
	var lost *LostError
	for name, err := range map[string]error{
		"look": second(l.Look(b.ctx, held)), "extend": second(l.Extend(b.ctx, held)), "release": l.Release(b.ctx, held),
	} {
		if err == nil || errors.As(err, &lost) || !strings.Contains(err.Error(), "lease of issue-42: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	gh.ClearFaults()
	must[Lease](t)(l.Extend(b.ctx, held))
	stopped, cancel := context.WithCancel(b.ctx)
	cancel()
	if _, err := l.Look(stopped, held); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }
