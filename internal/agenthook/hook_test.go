//go:build unix

package agenthook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/hook"
)

// hooks is a project with a plan, in which hooks are asked.
type hooks struct {
	t         *testing.T
	dir, temp string
	env       map[string]string
	errs      bytes.Buffer
}

func newHooks(t *testing.T) *hooks {
	t.Helper()
	h := &hooks{t: t, dir: t.TempDir(), temp: t.TempDir(), env: map[string]string{}}
	h.write("ralph/progress.txt", "begun\n")
	h.git("init", "-q")
	return h
}

func (h *hooks) write(name, text string) {
	h.t.Helper()
	file := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hooks) git(args ...string) {
	h.t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.hooksPath=/dev/null"}, args...)...)
	c.Dir = h.dir
	if out, err := c.CombinedOutput(); err != nil {
		h.t.Fatalf("git %s: %v\n%s", args, err, out)
	}
}

func (h *hooks) commit() {
	h.git("add", "-A", "--", ":!.ralph-active")
	h.git("commit", "-qm", "x", "--allow-empty")
}

// ask asks one hook, and returns what it prints.
func (h *hooks) ask(in string, which func(Hook)) string {
	var out bytes.Buffer
	h.errs.Reset()
	which(Hook{Dir: h.dir, Env: h.env, Environ: os.Environ(), Temp: h.temp, In: strings.NewReader(in), Out: &out, Err: &h.errs})
	return out.String()
}

func (h *hooks) stop(in string) string {
	return h.ask(in, func(k Hook) { k.Stop(h.t.Context()) })
}

// reason is why a stop is blocked; "" when it is not.
func (h *hooks) reason(in string) string {
	h.t.Helper()
	out := h.stop(in)
	if out == "" {
		return ""
	}
	var a struct{ Decision, Reason string }
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Decision != "block" || a.Reason == "" {
		h.t.Fatalf("%s: %v", out, err)
	}
	return a.Reason
}

// storyJSON is a story of tasks.json with its review fields.
func storyJSON(id string, passes bool, status string, count int, feedback string) string {
	return fmt.Sprintf(
		`{"id":%q,"title":"T","description":"d","acceptanceCriteria":["c"],"priority":1,%s,"reviewFeedback":%q,"notes":"done","dependsOn":[]}`,
		id, fields(passes, status, count), feedback)
}

func fields(passes bool, status string, count int) string {
	return strings.Replace(fmt.Sprintf(`"passes":%v,"reviewStatus":%q,"reviewCount":%d`, passes, status, count), `""`, "null", 1)
}

func planJSON(stories ...string) string {
	return `{"project":"p","branchName":"ralph/x","description":"d","userStories":[` + strings.Join(stories, ",") + `]}`
}

func stood(id string, passes bool, status string, count int) string {
	return fmt.Sprintf(`%q:{%s}`, id, fields(passes, status, count))
}

// judged asks the Stop hook where there is no git, which leaves out the last check.
func judged(t *testing.T, active, plan string) (string, string) {
	t.Helper()
	h := &hooks{t: t, dir: t.TempDir(), temp: t.TempDir()}
	h.write("ralph/tasks.json", plan)
	h.write(hook.ActiveFile, active)
	return h.reason("{}"), h.errs.String()
}

// TestStopRules: the fields of a review, and what an iteration did, are judged by the rules, the mode and the snapshot
// that the marker has; tests of plan have each case.
func TestStopRules(t *testing.T) {
	mode := func(mode, before string) string {
		return fmt.Sprintf(`{"iterationMode":%q,"preIterationSnapshot":{%s}}`, mode, before)
	}
	for name, c := range map[string]struct{ active, story, want, said string }{
		"needs_review":   {`{}`, storyJSON("US-001", true, "needs_review", 0, ""), "passes=true but reviewStatus is 'needs_review'", ""},
		"skipped":        {`{"skipReview":true}`, storyJSON("US-001", true, "", 0, ""), "", ""},
		"beyond the cap": {`{"reviewCap":1}`, storyJSON("US-001", true, "approved", 3, ""), "US-001", ""},
		"below the cap":  {`{"reviewCap":2}`, storyJSON("US-001", true, "approved", 3, ""), "", ""},
		"implement": {mode("implement", stood("US-001", false, "", 0)), storyJSON("US-001", true, "approved", 0, ""),
			"Implement iterations cannot set passes=true or approve stories", ""},
		"reviewed":        {mode("review", stood("US-001", false, "needs_review", 1)), storyJSON("US-001", true, "approved", 2, ""), "", ""},
		"no snapshot":     {`{"iterationMode":"implement"}`, storyJSON("US-001", true, "approved", 1, ""), "", "preIterationSnapshot"},
		"a broken marker": {`not JSON`, storyJSON("US-001", true, "", 1, ""), "not 'approved'", "is not what it should be"},
	} {
		got, said := judged(t, c.active, planJSON(c.story))
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || !strings.Contains(said, c.said) {
			t.Errorf("%s: %q, said %q", name, got, said)
		}
	}
}

// TestStopChecks: what is malformed, then what is not committed.
func TestStopChecks(t *testing.T) {
	h := newHooks(t)
	if got := h.stop("{}"); got != "" || h.errs.Len() > 0 {
		t.Errorf("no run: %s%s", got, &h.errs)
	}
	h.write(hook.ActiveFile, `{"skipReview":true}`)
	for text, want := range map[string]string{
		"":                          "ralph/tasks.json",
		"{":                         "ralph/tasks.json",
		`{"project":"p"}`:           "userStories",
		planJSON(`{"id":"US-001"}`): "title",
		planJSON(storyJSON("a", false, "", 0, ""), storyJSON("a", false, "", 0, "")):                      "a",
		planJSON(strings.Replace(storyJSON("a", true, "", 0, ""), `"notes":"done"`, `"notes":""`, 1)):     "notes",
		planJSON(strings.Replace(storyJSON("a", false, "", 0, ""), `"passes":false`, `"passes":"no"`, 1)): "passes",
	} {
		h.write("ralph/tasks.json", text)
		if got := h.reason("{}"); !strings.Contains(got, want) || !strings.Contains(got, "malformed") {
			t.Errorf("%s: %q", text, got)
		}
		_ = os.RemoveAll(filepath.Join(h.temp, hook.BlocksFile("")))
	}
	_ = os.Remove(filepath.Join(h.dir, "ralph/tasks.json"))
	if got := h.reason("{}"); !strings.Contains(got, "ralph/tasks.json does not exist") {
		t.Error(got)
	}
	h.write("ralph/tasks.json", planJSON(storyJSON("a", false, "", 0, "")))
	h.commit()
	for _, name := range []string{".ralph.lock", ".ralph_state.md", ".ralph/runs/x/journal.jsonl"} {
		h.write(name, "x")
	}
	if got := h.reason("{}"); got != "" {
		t.Errorf("only ralph's own files: %s", got)
	}
	h.write("new file.txt", "x")
	h.write("ralph/progress.txt", "more\n")
	want := "There are uncommitted changes. Before you stop:\n" +
		"1. Update ralph/progress.txt with what was accomplished and what you learned.\n" +
		"2. Consider whether any lasting patterns belong in CLAUDE.md or .claude/rules/.\n" +
		"3. Commit ALL changes, including progress.txt and the updates of ralph/tasks.json.\n" +
		"Not committed:\n-  M \"ralph/progress.txt\"\n- ?? \"new file.txt\""
	if got := h.reason("{}"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	below := filepath.Join(h.dir, "ralph")
	if got := h.reason(fmt.Sprintf(`{"cwd":%q}`, below)); got != want {
		t.Errorf("from below: %q", got)
	}
	if got := h.stop(fmt.Sprintf(`{"cwd":%q}`, h.temp)); got != "" {
		t.Errorf("elsewhere: %q", got)
	}
	h.write("plans/b/tasks.json", planJSON(storyJSON("a", true, "", 0, "")))
	h.write("plans/b/stories.json", planJSON(storyJSON("a", false, "", 0, "")))
	h.commit()
	if got := h.stop(""); got != "" {
		t.Error(got)
	}
	h.write(hook.ActiveFile, `{"ralphDir":"plans/b"}`)
	if got := h.reason("{}"); !strings.Contains(got, "plans/b/tasks.json") {
		t.Error(got)
	}
	h.write(hook.ActiveFile, `{"ralphDir":"plans/b","planFile":"stories.json"}`)
	if got := h.reason("{}"); got != "" {
		t.Error(got)
	}
}

// TestStopEnds: an agent is kept from stopping eight times in a row, then it may; a stop that is fine begins anew.
func TestStopEnds(t *testing.T) {
	h := newHooks(t)
	h.write(hook.ActiveFile, `{}`)
	for i := range hook.MostBlocks {
		if got := h.reason(`{"session_id":"s"}`); got == "" {
			t.Fatalf("block %d is none", i+1)
		}
	}
	for range 3 {
		got := h.stop(`{"session_id":"s"}`)
		if strings.Contains(got, `"block"`) || !strings.Contains(got, "systemMessage") ||
			!strings.Contains(h.errs.String(), "kept from stopping 8 times") {
			t.Errorf("%s, said %s", got, &h.errs)
		}
	}
	if got := h.reason(`{"session_id":"other"}`); got == "" {
		t.Error("another session is not blocked")
	}
	h.write("ralph/tasks.json", planJSON(storyJSON("a", false, "", 0, "")))
	h.commit()
	if got := h.stop(`{"session_id":"s"}`); got != "" {
		t.Error(got)
	}
	h.write("x", "x")
	if got := h.reason(`{"session_id":"s"}`); got == "" {
		t.Error("the count does not begin anew")
	}
	h.ask(`{"session_id":"s"}`, Hook.SessionStart)
	if entries, _ := os.ReadDir(h.temp); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
	// What cannot be counted is blocked once.
	if err := os.Mkdir(filepath.Join(h.temp, hook.BlocksFile("d")), 0o755); err != nil {
		t.Fatal(err)
	}
	if h.reason(`{"session_id":"d"}`) == "" ||
		strings.Contains(h.stop(`{"session_id":"d","stop_hook_active":true}`), `"block"`) {
		t.Error("without a count it is not blocked once")
	}
}

// TestHooksHostile: nothing that is handed to a hook, or lies about, makes it fail, wait or say something wrong.
func TestHooksHostile(t *testing.T) {
	h := newHooks(t)
	every := map[string]func(Hook){
		"monitor": Hook.ContextMonitor, "start": Hook.SessionStart, "stop": func(k Hook) { k.Stop(t.Context()) },
		"guard": func(k Hook) { k.Guard(false) },
	}
	for name, which := range every {
		for _, in := range []string{"", "x", "[]", "{", "null", `{"session_id":7}`, "\x00", strings.Repeat("[", 1<<20),
			`{"transcript_path":"/nowhere"}`} {
			if out := h.ask(in, which); out != "" {
				t.Errorf("%s says %s to %.20q", name, out, in)
			}
		}
	}
	fifo := filepath.Join(h.dir, "fifo")
	pipe := func(name string) {
		if err := syscall.Mkfifo(filepath.Join(h.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pipe("fifo")
	for _, transcript := range []string{fifo, h.dir, "/dev/zero", "fifo", "\x00", filepath.Join(h.dir, "none")} {
		in, _ := json.Marshal(map[string]string{"session_id": "s", "transcript_path": transcript})
		if out := h.ask(string(in), Hook.ContextMonitor); out != "" {
			t.Errorf("%s: %s", transcript, out)
		}
	}
	h.git("clean", "-fdxq")
	pipe(hook.ActiveFile)
	h.write("ralph/progress.txt", "")
	pipe("ralph/tasks.json")
	if got := h.reason("{}"); !strings.Contains(got, "not a regular file") {
		t.Error(got)
	}
	huge := `{"tool_name":"Bash","tool_input":{"command":"` + strings.Repeat("x", 9<<20) + `"}}` // which no one can look through
	if !strings.Contains(h.ask(huge, every["guard"]), `"permissionDecision":"deny"`) || h.stop(huge) != "" {
		t.Error("what is too long is not refused, or keeps the agent from stopping")
	}
	if out := h.stop("not JSON"); out != "" || h.errs.Len() == 0 {
		t.Errorf("bad input: %s, said %s", out, &h.errs)
	}
}

// transcript is a file of a size, as the input of a context monitor.
func (h *hooks) transcript(size int64, session string) string {
	h.t.Helper()
	h.write("transcript", "")
	name := filepath.Join(h.dir, "transcript")
	if err := os.Truncate(name, size); err != nil {
		h.t.Fatal(err)
	}
	in, _ := json.Marshal(map[string]string{"session_id": session, "transcript_path": name})
	return string(in)
}

// TestMonitorRemembers: once a session, until it starts again; what lies in the way is not followed.
func TestMonitorRemembers(t *testing.T) {
	h := newHooks(t)
	ask := func(size int64, session string) string {
		return h.ask(h.transcript(size, session), Hook.ContextMonitor)
	}
	if out := ask(399_999, "s"); out != "" {
		t.Error(out)
	}
	if entries, _ := os.ReadDir(h.temp); len(entries) != 0 {
		t.Errorf("below every threshold there is %v", entries)
	}
	for _, c := range []struct {
		size int64
		want string
	}{{400_000, "NOTICE"}, {400_001, ""}, {720_000, "CRITICAL"}, {9_000_000, ""}} {
		out := ask(c.size, "s")
		if (out == "") != (c.want == "") || !strings.Contains(out, c.want) ||
			out != "" && !strings.HasPrefix(out, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"[`) {
			t.Errorf("%d: %q", c.size, out)
		}
	}
	info, err := os.Stat(filepath.Join(h.temp, "claude-context-alerts-s"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	h.ask(`{"session_id":"s","source":"compact"}`, Hook.SessionStart)
	if out := ask(720_000, "s"); out != "" {
		t.Error("a compaction starts anew")
	}
	h.ask(`{"session_id":"s","source":"startup"}`, Hook.SessionStart)
	if out := ask(720_000, "s"); !strings.Contains(out, "CRITICAL") {
		t.Error("a start does not start anew")
	}
	h.env = map[string]string{"CLAUDE_CONTEXT_WINDOW": "1000", "CLAUDE_CONTEXT_DIVISOR": "5"}
	if out := ask(2_500, "t"); !strings.Contains(out, "About 50%") {
		t.Error(out)
	}
	h.env = nil
	victim := filepath.Join(h.dir, "victim")
	h.write("victim", "precious")
	for session, lay := range map[string]func(string) error{
		"link": func(name string) error { return os.Symlink(victim, name) },
		"hard": func(name string) error { return os.Link(victim, name) },
		"fifo": func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"dir":  func(name string) error { return os.Mkdir(name, 0o700) },
	} {
		if err := lay(filepath.Join(h.temp, hook.AlertsFile(session))); err != nil {
			t.Fatal(err)
		}
		if out := ask(720_000, session); out != "" || h.errs.Len() == 0 {
			t.Errorf("%s: %q, said %q", session, out, &h.errs)
		}
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the file that a link leads to holds %q", text)
	}
	h.ask(`{"session_id":"link"}`, Hook.SessionStart)
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
	if out := ask(720_000, "../../victim"); !strings.Contains(out, "CRITICAL") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(h.temp, hook.AlertsFile("../../victim"))); err != nil {
		t.Error(err)
	}
}

// TestGuardKnowsTheRun: the marker of a run says that ralph is at work, and where the plan is.
func TestGuardKnowsTheRun(t *testing.T) {
	h := newHooks(t)
	push := `{"tool_name":"Bash","tool_input":{"command":"git push"}}`
	guard := func(in string, run bool) string { return h.ask(in, func(k Hook) { k.Guard(run) }) }
	if out := guard(push, false); out != "" {
		t.Error(out)
	}
	if out := guard(push, true); !strings.Contains(out, `"permissionDecision":"deny"`) {
		t.Error(out)
	}
	h.write(hook.ActiveFile, `{"ralphDir":"plans/b"}`)
	if out := guard(push, false); !strings.Contains(out, "ralph pushes") {
		t.Error(out)
	}
	below := fmt.Sprintf(`{"cwd":%q,"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"echo x > b/prd.md"}}`,
		filepath.Join(h.dir, "plans"))
	if out := guard(below, false); !strings.HasPrefix(out, `{"decision":"deny","reason":"Refused (harness): it changes plans/b/prd.md.`) {
		t.Error(out)
	}
}

// TestSessionsElsewhere: where a sandbox leaves nothing but a directory of one's own, a session is remembered there.
func TestSessionsElsewhere(t *testing.T) {
	own := t.TempDir()
	k := Hook{Dir: own, Environ: []string{"TMPDIR=" + own}}
	if dirs := k.temps(); len(dirs) != 2 || dirs[1] != own {
		t.Fatalf("sessions may be in %q", dirs)
	}
	name := filepath.Join(own, "alerts")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.forget("alerts"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(name); err == nil {
		t.Error("it is remembered still")
	}
}
