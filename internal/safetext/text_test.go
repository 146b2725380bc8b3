package safetext

import (
	"strings"
	"testing"
)

// TestText: one row for each thing a helper does, and for each of its edges.
func TestText(t *testing.T) {
	abc, five := []string{"a", "b", "c"}, strings.Fields("a b c d e")
	before, after, _ := CutLast("a/b/c", "/")
	whole, none, found := CutLast("abc", "/")
	for _, tt := range []struct{ name, got, want string }{
		{"one line", OneLine(" a\n\tb  c "), "a b c"},
		{"first line", FirstLine("\n  a b \nc"), "a b"},
		{"first line of nothing", FirstLine(" \n"), ""},
		{"short enough", Shorten("äbc", 3), "äbc"},
		{"shortened", Shorten("äbcd", 3), "äb…"},
		{"no blank before the ellipsis", Shorten("a bcd", 3), "a…"},
		{"bytes, short enough", ShortenBytes("abcdef", 6), "abcdef"},
		{"bytes, shortened between characters", ShortenBytes("aäbcdef", 5), "a…"},
		{"first characters", FirstRunes("äöü", 2), "äö"},
		{"first characters of fewer", FirstRunes("ä", 2), "ä"},
		{"last characters", LastRunes("äöü", 2), "öü"},
		{"last characters of fewer", LastRunes("ä", 2), "ä"},
		{"first bytes", FirstBytes("aä", 2), "a"},
		{"no bytes", FirstBytes("a", -1), ""},
		{"last bytes", LastBytes("äa", 2), "a"},
		{"whole end", WholeEnd("a\xc3"), "a"},
		{"whole end keeps what is no character", WholeEnd("a\xff"), "a\xff"},
		{"whole start", WholeStart("\xa4a"), "a"},
		{"cut at the last", before + "|" + after, "a/b|c"},
		{"nothing to cut at", whole + "|" + none, "abc|"},
		{"capital", UpperFirst("äb"), "Äb"},
		{"capital of nothing", UpperFirst(""), ""},
		{"one thing", Count(1, "file"), "1 file"},
		{"no thing", Count(0, "file"), "0 files"},
		{"irregular", Counted(2, "branch", "branches"), "2 branches"},
		{"once", Times(1), "once"},
		{"twice", Times(2), "2 times"},
		{"verbs", IsAre(1) + WasWere(2) + ItThem(1), "iswereit"},
		{"few", FirstN(abc, 3), "a, b, c"},
		{"few of many", FirstN(five, 3), "a, b, c and 2 more"},
		{"sentence", And(abc), "a, b and c"},
		{"sentence of one", And(abc[:1]), "a"},
		{"sentence of none", And(nil), ""},
		{"sentence of many", AndMore(five, 2), "a, b and 3 more"},
		{"or", List(abc[:2], "or"), "a or b"},
		{"code", Code("a`b"), "``a`b``"},
		{"code that begins with a backtick", Code("`a"), "`` `a ``"},
		{"code of nothing", Code(" "), ""},
		{"fence", Fence("a\n```\nb\n"), "````text\na\n```\nb\n````\n"},
		{"Markdown", EscapeMarkdown("*a* <b>"), `\*a\* \<b\>`},
		{"no bytes", Bytes(0), "0 bytes"},
		{"a byte", Bytes(1), "1 byte"},
		{"a kibibyte", Bytes(1024), "1 KiB"},
		{"and a half", Bytes(1536), "1.5 KiB"},
		{"not rounded up", Bytes(1<<20 - 1), "1023.9 KiB"},
		{"beyond the units", Bytes(3 << 50), "3072 TiB"},
		{"harmless lines", InertLines("a\x1b[m\n::b"), "a\n: :b\n"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
	if found {
		t.Error("something was found where nothing is")
	}
	if AndMore(five, 2); five[2] != "c" {
		t.Error("a list was changed by showing it")
	}
}
