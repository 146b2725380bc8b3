package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
)

// MarkWord is in every mark that stands where something that looks like a credential was taken out of a commit.
const MarkWord = "ralph-took-out"

// Mark stands for a credential that was taken out. It says of what kind that was, and tells it from others by a hash
// that leads nobody back.
type Mark struct{ Rule, Sum string }

// MarkOf is the mark of a credential of a text.
func MarkOf(text string, c Credential) Mark {
	sum := sha256.Sum256([]byte(text[c.From:c.To]))
	return Mark{c.Rule, hex.EncodeToString(sum[:4])}
}

func (m Mark) String() string { return "[" + MarkWord + ":" + m.Rule + ":" + m.Sum + "]" }

// Name is what somebody accepts it by, in the file of that path: "docs/sample.md:aws-key".
func (m Mark) Name(path string) string { return path + ":" + m.Rule }

// Says is what it means, in a sentence without its end: the same for the same credential, wherever it stands.
func (m Mark) Says() string {
	return "it looked like " + what(m.Rule) + " (" + m.Sum + "), and was taken out of the commit"
}

func what(name string) string {
	for _, r := range rules {
		if r.Name == name {
			return r.What
		}
	}
	return "a credential"
}

var marked = regex.Lazy(`\[` + MarkWord + `:([a-z-]{1,40}):([0-9a-f]{8})\]`)

// Marks are those that stand in a text.
func Marks(text string) (marks []Mark) {
	if !strings.Contains(text, MarkWord) {
		return nil
	}
	for _, m := range marked.FindAllStringSubmatch(text, -1) {
		marks = append(marks, Mark{m[1], m[2]})
	}
	return marks
}

// TakeOut puts marks in the place of the credentials of a text.
func TakeOut(text string, out []Credential) string {
	var b strings.Builder
	end := 0
	for _, c := range out {
		b.WriteString(text[end:c.From] + MarkOf(text, c).String())
		end = c.To
	}
	return b.String() + text[end:]
}
