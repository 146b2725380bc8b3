package failure

import "testing"

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
