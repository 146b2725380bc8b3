package actions

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

func getenv(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func inside(out *bytes.Buffer) *Runner {
	return New(getenv(map[string]string{"GITHUB_ACTIONS": "true"}), out)
}

func TestCommands(t *testing.T) {
	var out bytes.Buffer
	r := inside(&out)
	r.Mask("s3cret line\r\n key")
	r.Mask("")
	r.Group("Iteration 1")
	_, _ = r.Write([]byte("no line end"))
	r.EndGroup()
	r.Notice("100% done\n::error::no")
	r.Warning("w")
	r.Error("e")
	want := "::add-mask::s3cret line%0D%0A key\n::add-mask::s3cret line\n::group::Iteration 1\nno line " +
		"end\n::endgroup::\n::notice::100%25 done%0A: :error::no\n::warning::w\n::error::e\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestOutsideOfARunner(t *testing.T) {
	var out bytes.Buffer
	r := New(getenv(nil), &out)
	r.Mask("s3cret")
	r.Group("Iteration 1")
	resume := r.StopCommands()
	_, _ = r.Write([]byte("::error::text"))
	resume()
	r.EndGroup()
	r.Error("e")
	r.Summary("# no")
	if err := r.SetOutputs(map[string]string{"outcome": "done"}); err != nil {
		t.Error(err)
	}
	if want := "Iteration 1\n: :error::text\nerror: e\n"; out.String() != want || r.Inside() {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// obeyed replays a log as the runner reads it: the commands it would obey.
func obeyed(log string) []string {
	var found []string
	token := ""
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeft(line, " ")
		switch {
		case token != "":
			if line == "::"+token+"::" {
				token = ""
			}
		case strings.HasPrefix(line, "::stop-commands::"):
			token = strings.TrimPrefix(line, "::stop-commands::")
		case strings.HasPrefix(line, "::") || strings.Contains(line, "##["):
			found = append(found, line)
		}
	}
	return append(found, token)
}

func TestForeignOutputIsNotObeyed(t *testing.T) {
	var out bytes.Buffer
	r := inside(&out)
	resume := r.StopCommands()
	inner := r.StopCommands()
	_, _ = r.Write([]byte("::error::foreign\nno end"))
	r.Warning("ours")
	_, _ = r.Write([]byte("::add-mask::a\n::endgroup::"))
	inner()
	inner() // again does nothing
	_, _ = r.Write([]byte("\n::error::still foreign\n"))
	resume()
	r.Notice("after")
	if got := strings.Join(obeyed(out.String()), "|"); got != "::warning::ours|::notice::after|" {
		t.Errorf("the runner would obey %s of\n%s", got, out.String())
	}
	tokens := regexp.MustCompile(`::stop-commands::ralph-[A-Z2-7]{26}\n`).FindAllString(out.String(), -1)
	if len(tokens) != 2 || tokens[0] == tokens[1] {
		t.Errorf("each stop has a token of its own: %q", tokens)
	}
}

// TestOwnLogIsText: what ralph itself logs may hold words of others.
func TestOwnLogIsText(t *testing.T) {
	var out bytes.Buffer
	r := inside(&out)
	for _, line := range []string{"nothing to do: x\n::add-mask::a\n", " ::stop-commands::a\n",
		"reading ##[add-mask]a: no\n", "x\r::error::a\n"} {
		_, _ = r.Write([]byte(line))
	}
	r.Notice("ours")
	if got := strings.Join(obeyed(out.String()), "|"); got != "::notice::ours|" {
		t.Errorf("the runner would obey %s of\n%s", got, out.String())
	}
	if n := strings.Count(out.String(), "::stop-commands::ralph-"); n != 4 {
		t.Errorf("%d times stopped, want 4:\n%s", n, out.String())
	}
	out.Reset()
	_, _ = r.Write([]byte("a: plain line\n"))
	if out.String() != "a: plain line\n" {
		t.Errorf("a plain line is logged as %q", out.String())
	}
}

func TestSetOutputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output")
	r := New(getenv(map[string]string{"GITHUB_OUTPUT": path}), &bytes.Buffer{})
	if err := r.SetOutputs(map[string]string{"pr_url": "https://x/1", "outcome": "",
		"branch_name": "ralph/issue-42"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(
		`^branch_name<<(ralph-[A-Z2-7]{26})\nralph/issue-42\n(.*)\noutcome<<(.*)\n\n(.*)\npr_url<<(.*)\nhttps://x/1\n(.*)\n$`).FindStringSubmatch(string(text))
	if match == nil {
		t.Fatalf("%s", text)
	}
	for _, delimiter := range match[1:] {
		if delimiter != match[1] {
			t.Errorf("%q is not the delimiter of this call", delimiter)
		}
	}
	for name, value := range map[string]string{"a": "x\ny", "b": "x\ry", "c": "\x00",
		"d": strings.Repeat("x", outputBytes+1), "E": "x", "f\n": "x", "g": "\xff", "h": "a\u2028b"} {
		if err := r.SetOutputs(map[string]string{name: value, "outcome": "done"}); err == nil {
			t.Errorf("%q=%q is let through", name, value)
		}
	}
	if again, _ := os.ReadFile(path); !bytes.Equal(again, text) {
		t.Errorf("a refused call has written: %s", again)
	}
}

func TestSummaryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	r := New(getenv(map[string]string{"GITHUB_STEP_SUMMARY": path}), &bytes.Buffer{})
	line := strings.Repeat("ä", 499) + "\n"
	for range 3 {
		r.Summary(strings.Repeat(line, 500))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 1<<20 || len(text) < 1<<20-4096 || strings.Count(string(text), strings.TrimSpace(cutNote)) != 1 {
		t.Errorf("%d bytes, ends %q", len(text), text[len(text)-100:])
	}
	if !strings.HasPrefix(string(text), line+line) || strings.Contains(string(text), "\ufffd") {
		t.Error("the beginning is not kept")
	}
}

func TestFilesThatCannotBeWritten(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "no", "file")
	var out bytes.Buffer
	r := New(getenv(map[string]string{"GITHUB_STEP_SUMMARY": nowhere, "GITHUB_OUTPUT": nowhere}), &out)
	r.Summary("x")
	if !strings.HasPrefix(out.String(), "warning: writing the job summary: open ") {
		t.Error(out.String())
	}
	if err := r.SetOutputs(map[string]string{"a": "b"}); err == nil {
		t.Error("no error")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestALogThatCannotBeWrittenStopsNothing(t *testing.T) {
	r := New(getenv(map[string]string{"GITHUB_ACTIONS": "true"}), broken{})
	r.Notice("x")
	r.StopCommands()()
}

func TestConcurrentUse(t *testing.T) {
	var out bytes.Buffer
	r := inside(&out)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				resume := r.StopCommands()
				_, _ = r.Write([]byte("::error::foreign\n"))
				r.Notice("ours")
				resume()
			}
		})
	}
	group.Wait()
	for _, command := range obeyed(out.String()) {
		if command == "::error::foreign" {
			t.Fatal("foreign output was obeyed")
		}
	}
}
