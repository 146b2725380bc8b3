package failure

import (
	"strings"
	"testing"
)

func TestSignature(t *testing.T) {
	a := Signature("make test", "--- FAIL: TestAdd (0.02s)\n  /tmp/x1/add.go:3: 3 != 4 at 0xc000012\nFAIL "+
		"2026-11-21T12:00:00Z")
	b := Signature("make test", "--- FAIL: TestAdd (1.37s)\n  /tmp/y22/add.go:3: 3 != 4 at 0xc0ffee\nFAIL "+
		"2027-01-01T01:02:03Z")
	if a != b {
		t.Errorf("the same failure hashes to %s and %s", a, b)
	}
	if a == Signature("make test", "--- FAIL: TestSub (0.02s)") {
		t.Error("different failures hash alike")
	}
	if a == Signature("make lint",
		"--- FAIL: TestAdd (0.02s)\n  /tmp/x1/add.go:3: 3 != 4 at 0xc000012\nFAIL 2026-11-21T12:00:00Z") {
		t.Error("different checks hash alike")
	}
	if len(a) != 8 {
		t.Errorf("%q is not 8 digits", a)
	}
}

// TestPatterns: what is compiled late is well written all the same, and begins as it says.
func TestPatterns(t *testing.T) {
	for _, s := range []*sieve{noise(), weakNoise()} {
		asked := 0
		for _, some := range s {
			for _, one := range some {
				asked++
				if begins, _ := one.whole.Regexp().LiteralPrefix(); !strings.HasPrefix(begins, one.begins) &&
					one.whole.Regexp().MatchString(begins) {
					t.Errorf("%s does not begin with %q", one.whole.Regexp(), one.begins)
				}
			}
		}
		if asked == 0 {
			t.Error("a list is empty")
		}
	}
	if len(missingPatterns()) == 0 {
		t.Error("a list is empty")
	}
}
