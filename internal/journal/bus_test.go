package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func say(t *testing.T, dir, kind, text string) {
	t.Helper()
	noError(t, Post(dir, Message{At: time.Unix(0, 0).UTC(), Type: kind, Text: text, From: 7}))
}

// heard is what the bus tells from an offset: "type text" each.
func heard(t *testing.T, dir string, from int64) (all []string, next int64) {
	t.Helper()
	next, err := ReadBus(dir, from, func(m Message, _ []byte) error {
		all = append(all, m.Type+" "+m.Text)
		return nil
	})
	noError(t, err)
	return all, next
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(dir, BusFile), os.O_WRONLY|os.O_APPEND, 0)
	noError(t, err)
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
}

// onBus is a task directory with its .ralph.
func onBus(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	noError(t, os.Mkdir(filepath.Join(dir, ".ralph"), 0o755))
	return dir
}

func TestBusTellsWhatWasPosted(t *testing.T) {
	dir := onBus(t)
	if all, next := heard(t, dir, 0); all != nil || next != 0 {
		t.Errorf("no bus tells %q, to be read on at %d", all, next)
	}
	say(t, dir, "note", "<one>\nline")
	end, err := BusEnd(dir)
	noError(t, err)
	say(t, dir, "wait_without_restart", "")
	if all, next := heard(t, dir, 0); !reflect.DeepEqual(all, []string{"note <one>\nline", "wait_without_restart "}) ||
		next <= end {
		t.Errorf("all = %q, next = %d", all, next)
	}
	if all, _ := heard(t, dir, end); !reflect.DeepEqual(all, []string{"wait_without_restart "}) {
		t.Errorf("from the offset: %q", all)
	}
	raw, _ := os.ReadFile(filepath.Join(dir, BusFile))
	if want := `{"at":"1970-01-01T00:00:00Z","type":"note","text":"<one>\nline","from":7}` +
		"\n"; !strings.HasPrefix(string(raw), want) {
		t.Errorf("the file holds %s, want %s", raw, want)
	}
}

// What is not a message, or not yet one, costs no message beside it.
func TestBusPassesOverWhatIsNoMessage(t *testing.T) {
	for name, c := range map[string]struct{ between, want string }{
		"nothing":              {"", "a 1|b 2"},
		"an empty line":        {"\n", "a 1|b 2"},
		"no JSON":              {"hello\n", "a 1|b 2"},
		"a type with a space":  {`{"type":"x y"}` + "\n", "a 1|b 2"},
		"a line without end":   {`{"type":"half","te`, "a 1|b 2"},
		"a line that is long":  {`{"type":"long","text":"` + strings.Repeat("x", 3*MaxMessage) + `"}` + "\n", "a 1|b 2"},
		"a long one, unended":  {strings.Repeat("x", 2*MaxMessage), "a 1|b 2"},
		"one of another hand":  {`{"type":"other","text":"3","more":true}` + "\n", "a 1|other 3|b 2"},
		"the longest of lines": {`{"type":"l","text":""` + strings.Repeat(" ", MaxMessage-23) + "}\n", "a 1|l |b 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := onBus(t)
			say(t, dir, "a", "1")
			write(t, dir, c.between)
			say(t, dir, "b", "2")
			if all, _ := heard(t, dir, 0); strings.Join(all, "|") != c.want {
				t.Errorf("the bus tells %.200q, want %q", all, c.want)
			}
		})
	}
}

func TestBusThatBeganAnew(t *testing.T) {
	dir := onBus(t)
	say(t, dir, "a", strings.Repeat("long", 100))
	_, next := heard(t, dir, 0)
	noError(t, os.Remove(filepath.Join(dir, BusFile)))
	say(t, dir, "b", "")
	if all, _ := heard(t, dir, next); strings.Join(all, "|") != "b " {
		t.Errorf("the new bus tells %q", all)
	}
}

func TestPostRefuses(t *testing.T) {
	dir := onBus(t)
	for _, c := range []struct{ kind, text, want string }{
		{"two words", "", "must be one word"},
		{"", "", "must be one word"},
		{strings.Repeat("x", 65), "", "must be one word"},
		{"note\n", "", "must be one word"},
		{"note", strings.Repeat("x", MaxMessage), "write it to a file"},
	} {
		if err := Post(dir, Message{Type: c.kind, Text: c.text}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q %.20q: %v, want %q", c.kind, c.text, err, c.want)
		}
	}
	if all, _ := heard(t, dir, 0); all != nil {
		t.Errorf("the bus tells %.100q", all)
	}
}

// What runs in the task directory cannot lead us out of it, nor keep us waiting.
func TestBusIsAPlainFileOfItsDirectory(t *testing.T) {
	dir, outside := onBus(t), filepath.Join(t.TempDir(), "outside")
	noError(t, os.Symlink(outside, filepath.Join(dir, BusFile)))
	if err := Post(dir, Message{Type: "note"}); err == nil {
		t.Error("a link was written through")
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("the link's target was made")
	}
}

func TestManyPostAtOnce(t *testing.T) {
	dir := onBus(t)
	const writers, each = 8, 50
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				_ = Post(dir, Message{Type: "note", Text: fmt.Sprint(w, "-", i, strings.Repeat("x", 4000))})
			}
		})
	}
	all.Wait()
	if told, _ := heard(t, dir, 0); len(told) != writers*each {
		t.Errorf("%d messages are there, want %d", len(told), writers*each)
	}
}
