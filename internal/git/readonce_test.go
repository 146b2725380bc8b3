package git

import (
	"fmt"
	"strings"
	"testing"
)

// TestReadResultsAreBounded: neither many files nor large ones fill the memory, and what is kept is what was read.
func TestReadResultsAreBounded(t *testing.T) {
	var r readResults
	for i := range 2 * mostKnown {
		r.put(readKey{"c", fmt.Sprint(i), 9}, readResult{[]byte("x"), true})
	}
	if len(r.kept) > mostKnown {
		t.Errorf("%d files are kept", len(r.kept))
	}
	large := readKey{"c", "large", 1 << 20}
	r.put(large, readResult{[]byte(strings.Repeat("x", mostKnownBytes+1)), true})
	if _, there := r.get(large); there {
		t.Error("a large file is kept")
	}
	last := readKey{"c", fmt.Sprint(2*mostKnown - 1), 9}
	if got, there := r.get(last); !there || string(got.content) != "x" || !got.ok {
		t.Errorf("%+v, %v", got, there)
	}
	if _, there := r.get(readKey{"c", last.path, 8}); there {
		t.Error("another length is the same question")
	}
}
