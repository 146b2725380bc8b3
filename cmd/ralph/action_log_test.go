package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/internal/actions"
)

// TestErrorInTheLogIsText: the words of others in a job's last error command nothing. Outside of a job there is nobody
// to command.
func TestErrorInTheLogIsText(t *testing.T) {
	hostile := errors.New("pushing: remote: ##[set-output name=outcome;]done\n::add-mask::a")
	var out bytes.Buffer
	inside := actions.New(func(name string) string { return map[string]string{"GITHUB_ACTIONS": "true"}[name] }, &out)
	if err := logged(inside, hostile); err != nil {
		t.Errorf("it is told again: %v", err)
	}
	if text := out.Bytes(); !bytes.HasPrefix(text, []byte("::stop-commands::ralph-")) ||
		!bytes.Contains(text, []byte("\nralph: pushing: remote: ")) {
		t.Errorf("the log is %q", text)
	}
	out.Reset()
	if err := logged(actions.New(func(string) string { return "" }, &out), hostile); !errors.Is(err, hostile) ||
		out.Len() != 0 {
		t.Errorf("outside: %v, and the log is %q", err, out.String())
	}
	if err := logged(inside, nil); err != nil || out.Len() != 0 {
		t.Errorf("no error: %v, and the log is %q", err, out.String())
	}
}
