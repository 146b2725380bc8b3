package queue

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
)

func TestFair(t *testing.T) {
	for _, c := range []struct {
		name        string
		all         []candidate
		free, limit int
		want        []int64
	}{
		{name: "nothing waits", free: 3},
		{"one tenant takes all", []candidate{{number: 1, tenant: "a"}, {number: 2, tenant: "a"}}, 3, 0, []int64{1, 2}},
		{"but not more than it may",
			[]candidate{{number: 1, tenant: "a", running: 1}, {number: 2, tenant: "a", running: 1}},
			3, 2, []int64{1}},
		{"who runs less goes first", []candidate{{number: 1, tenant: "a", running: 1}, {number: 2, tenant: "b"}},
			1, 0, []int64{2}},
		{"then who was served longer ago",
			[]candidate{{number: 1, tenant: "a", served: 8}, {number: 2, tenant: "b", served: 7}},
			1, 0, []int64{2}},
		{"by turns", []candidate{{number: 1, tenant: "a"}, {number: 2, tenant: "a"}, {number: 3, tenant: "a"},
			{number: 4, tenant: "b"}, {number: 5, tenant: "b"}}, 4, 0, []int64{1, 4, 2, 5}},
	} {
		if got := fair(c.all, c.free, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGone: only a process that has certainly ended is gone.
func TestGone(t *testing.T) {
	here := machine()
	need.That(t, "a machine with an id", here != "")
	words := strings.Fields(here)
	at := func(i int, word string) string {
		other := slices.Clone(words)
		other[i] = word
		return strings.Join(other, " ")
	}
	child := exec.Command(os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]bool{
		here: false, "": false, "not a place": false,
		at(0, "another-boot"): false, at(1, "pid:[1]"): false, at(2, "x"): false, at(2, "-1"): false,
		at(3, "1"):                             true, // its number belongs to another process now
		at(2, strconv.Itoa(child.Process.Pid)): true,
	} {
		if got := gone(place); got != want {
			t.Errorf("gone(%q) = %v", place, got)
		}
	}
}
