package secret

import (
	"strings"
	"testing"
)

// TestTakeOut: what is taken out is nowhere any more, its mark tells what it was, and is no credential itself.
func TestTakeOut(t *testing.T) {
	one, two := of("ghp"+"_", 36), of("AI"+"za", 35)
	text := "a: " + one + "\nb: \"" + two + "\"\nend"
	out := TakeOut(text, Credentials(text))
	if strings.Contains(out, one) || strings.Contains(out, two) || len(Credentials(out)) > 0 ||
		!strings.HasSuffix(out, "\"\nend") {
		t.Fatalf("%s", out)
	}
	marks := Marks(out)
	if len(marks) != 2 || marks[0].Rule != "github-token" || marks[1].Rule != "google-key" ||
		!strings.Contains(marks[1].Says(), "an API key of Google ("+marks[1].Sum+")") {
		t.Fatalf("%+v", marks)
	}
	if again := Marks(TakeOut(text, Credentials(text))); again[0] != marks[0] || marks[0].Sum == marks[1].Sum {
		t.Errorf("%+v, then %+v", marks, again)
	}
	if Mark.Says(Mark{Rule: "nothing-known", Sum: "x"}) == "" || len(Marks("about "+MarkWord)) != 0 {
		t.Error("a mark that is none")
	}
}
