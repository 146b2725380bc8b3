package doctor

import "testing"

// TestWrapped: at a terminal a row goes on below itself, broken between words alone; elsewhere it is one line.
func TestWrapped(t *testing.T) {
	const text = "not installed: install it (npm install -g @anthropic-ai/claude-code)"
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "claude  ✗  " + text},
		{30, "claude  ✗  " + text}, // too narrow to be worth it
		{45, "claude  ✗  not installed: install it (npm\n           install -g\n           @anthropic-ai/claude-code)"},
		{200, "claude  ✗  " + text},
	} {
		if got := (&Doctor{Width: c.width}).wrapped("claude  ✗  ", text); got != c.want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", c.width, got, c.want)
		}
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
