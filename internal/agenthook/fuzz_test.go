//go:build unix

package agenthook

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/hook"
)

// FuzzStdin: whatever an agent hands to a hook, the hook prints nothing or one line of JSON, remembers nothing but in
// the directory for it, under a name of its own, and still refuses a dangerous command.
func FuzzStdin(f *testing.F) {
	for _, in := range []string{"", "{}", "null", "[]", "{", "\ufeff{}", `{"session_id":"../../x","transcript_path":"t"}`,
		`{"session_id":5}`, `{"cwd":"../..","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`,
		`{"tool_name":"Bash","tool_input":{"command":["rm","-rf","/"]}}`, `{"tool_input":"rm -rf /"}`,
		`{"hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{"path":".git/hooks/x"}}`,
		`{"source":"compact","session_id":"\u0000/"}`, `{"cwd":"\u0000"}`, `{"stop_hook_active":true}`} {
		f.Add([]byte(in), "s", "../x")
	}
	f.Add([]byte("{}"), "../../../etc/passwd", "/proc/self")
	f.Add([]byte("{}"), "x/../../y", "")
	above := f.TempDir()
	dir, temp := filepath.Join(above, "work"), filepath.Join(above, "temp")
	for _, name := range []string{dir, temp, filepath.Join(dir, ".git")} {
		if err := os.Mkdir(name, 0o755); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "t"), make([]byte, 700_000), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte, session, cwd string) {
		ask := func(in []byte, which func(Hook)) []byte {
			var out, errs bytes.Buffer
			which(Hook{Dir: dir, Env: map[string]string{"HOME": above}, Temp: temp, In: bytes.NewReader(in), Out: &out,
				Err: &errs})
			if line := out.Bytes(); len(line) > 0 && (!json.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1) {
				t.Errorf("%q is answered by %q", in, line)
			}
			if strings.ContainsRune(errs.String(), 0x1b) {
				t.Errorf("%q is told as %q", in, errs.String())
			}
			return out.Bytes()
		}
		known, err := json.Marshal(map[string]any{"session_id": session, "cwd": cwd,
			"transcript_path": filepath.Join(dir, "t"),
			"tool_name":       "Bash", "tool_input": map[string]string{"command": "rm -rf /"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range [][]byte{in, known} {
			ask(in, Hook.ContextMonitor)
			only(t, above, "work", "temp")
			ask(in, Hook.SessionStart)
			ask(in, func(h Hook) { h.Stop(context.Background()) })
		}
		if out := ask(in, func(h Hook) { h.Guard(true) }); bytes.Contains(out, []byte(`"allow"`)) {
			t.Errorf("%q is allowed: %s", in, out)
		}
		if out := ask(known, func(h Hook) { h.Guard(true) }); !bytes.Contains(out, []byte(`"deny"`)) {
			t.Errorf("rm -rf / in %q, session %q, is answered by %q", cwd, session, out)
		}
		only(t, temp)
	})
}

// only complains about anything in a directory but what may be there, and what hooks remember.
func only(t *testing.T, dir string, may ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	allowed := " " + strings.Join(may, " ") + " "
	for _, e := range entries {
		name := e.Name()
		remembered := len(may) == 0 && e.Type().IsRegular() && len(name) < 200 &&
			(strings.HasPrefix(name, "claude-context-alerts-") || strings.HasPrefix(name, "ralph-stop-blocks-"))
		if !remembered && !strings.Contains(allowed, " "+name+" ") {
			t.Errorf("%s is in %s", name, dir)
		}
		if remembered {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
}

// FuzzStop: whatever the files of a run hold, an agent that may stop has a plan that can be read; and a marker that
// cannot be read is a run all the same.
func FuzzStop(f *testing.F) {
	story := storyJSON("US-001", true, "approved", 1, "")
	for _, marker := range []string{"", "{}", "null", "[]", `{"skipReview":true}`, `{"iterationMode":"x","reviewCap":-1}`,
		`{"iterationMode":"implement","preIterationSnapshot":{` + stood("US-001", true, "approved", 1) + `}}`} {
		f.Add([]byte(marker), []byte(planJSON(story)), []byte(" M a\x00"))
		f.Add([]byte(marker), []byte(`{}`), []byte("R  a\x00"))
	}
	f.Fuzz(func(t *testing.T, marker, plan, status []byte) {
		active, problems := hook.ReadActive(marker)
		if active.RalphDir == "" || active.ReviewCap < 1 || !json.Valid(marker) && len(problems) == 0 {
			t.Errorf("%q is %+v, %q", marker, active, problems)
		}
		asked := false
		facts := hook.Facts{Active: active, PlanName: "ralph/tasks.json", Plan: plan,
			Status: func() ([]byte, error) { asked = true; return status, nil }}
		block, _ := hook.Stop(facts)
		if block == "" && (!asked || !json.Valid(plan) || len(hook.Uncommitted(status)) > 0) {
			t.Errorf("may stop with %q, %q, %q", marker, plan, status)
		}
	})
}
