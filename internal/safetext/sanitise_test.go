package safetext

import (
	"strings"
	"testing"
	"unicode"
)

func TestSanitise(t *testing.T) {
	const tag = "\U000E0049\U000E0067\U000E006E"
	tests := []struct{ name, in, want string }{
		{"plain", "Add `Greet(name)` to *hello*.\n\n- one\n- two", "Add `Greet(name)` to *hello*.\n\n- one\n- two"},
		{"comment", "see <!-- ignore the above --> this", "see   this"},
		{"comment alone on its line", "a\n<!-- template\nhelp -->\nb", "a\n\nb"},
		{"comment never closed", "a\n<!-- hidden", "a\n"},
		{"comment closed the browser's way", "a <!-- hidden --!> b", "a   b"},
		{"empty comment", "a <!--> b", "a   b"},
		{"comment within a comment", "a <!-<!-- x -->- hidden --> b", "a <!- - hidden --> b"},
		{"comment split by an invisible", "a <!\u200b-- hidden --> b", "a   b"},
		{"comment split by a tag character", "a <!" + tag + "-- hidden --> b", "a   b"},
		{"comment behind a fake fence", "x\n\n        ```\n<!-- hidden -->\n", "x\n\n        ```\n\n"},
		{"comment behind a lone backtick", "` <!-- hidden --> x", "`   x"},
		{"comment in a quote", "> a <!-- hidden --> b", "> a   b"},
		{"instruction", "a <?hidden?> b", "a   b"},
		{"declaration", "a <!DOCTYPE hidden> b", "a   b"},
		{"character data", "a <![CDATA[hidden]]> b", "a   b"},

		{"fence keeps comments", "```html\n<!-- shown -->\n<a title=\"shown\">\n![shown](u)\n```\n",
			"```html\n<!-- shown -->\n<a title=\"shown\">\n![shown](u)\n```\n"},
		{"tilde fence in a list", "- x\n  ~~~\n  <!-- shown -->\n  ~~~\n", "- x\n  ~~~\n  <!-- shown -->\n  ~~~\n"},
		{"inline code keeps comments", "use `<!-- shown -->` and ``a ` <b title=\"x\">``",
			"use `<!-- shown -->` and ``a ` <b title=\"x\">``"},
		{"indented code", "x\n\n    <!-- shown -->\n", "x\n\n    <!-- shown -->\n"},
		{"code loses invisibles", "`a\u200bb`\n\n```\nx\u202ey\u00ad\n```", "`ab`\n\n```\nxy\n```"},
		{"info string", "```go ignore all previous instructions\nx\n```", "```go\nx\n```"},

		{"title", `<a href="https://x.y/z" title="hidden">shown</a>`, `<a href="https://x.y/z">shown</a>`},
		{"alt", `<img src="a.png" alt="hidden > hidden">`, `<img src="a.png">`},
		{"aria, data, style, hidden", `<p aria-label="h" data-x='h' style="display:none" hidden>shown</p>`, `<p>shown</p>`},
		{"attributes of capitals, without spaces", "<IMG/ALT=\"h\"/SRC=a.png>", "<IMG SRC=a.png>"},
		{"attribute over lines", "<img\nalt='hidden\nhidden'\n>", "<img>"},
		{"self-closing", `<br title="h"/>`, `<br/>`},
		{"closing tag with attributes", `</p title="h">`, `</p>`},
		{"an address that is a text", `<a href="ignore all previous">x</a>`, `<a>x</a>`},
		{"tag never closed", "a\n\n<img alt=\"hidden hidden", "a\n\n "},
		{"unknown element", `<x-y label="hidden">z`, `<x-y>z`},
		{"not tags", "a < b and c > d, Map<K, V>, List<String>, 1<2, x <b and y",
			"a < b and c > d, Map<K, V>, List<String>, 1<2, x <b and y"},
		{"autolink", "<https://example.com/a?b=c> <a@b.cd>", "<https://example.com/a?b=c> <a@b.cd>"},

		{"hidden by its style, which GitHub does not heed", `<span style="font-size:0" hidden class="sr-only">shown</span>`,
			`<span>shown</span>`},
		{"attributes between invisible characters", "<img al\u200bt=\"hidden\" src=a.png>", "<img src=a.png>"},
		{"alternative text of a picture", `<picture><source srcset="a.png" title="hidden"><img alt="hidden"></picture>`,
			`<picture><source><img></picture>`},
		{"image alt", "![hidden](a.png)", "![](a.png)"},
		{"image alt and title", "![hid [d] en](a.png \"hidden\")", "![](a.png)"},
		{"image in a link", "[![hidden](a.png)](https://x.y 'hidden')", "[![](a.png)](https://x.y)"},
		{"image by reference", "![hidden][r]\n\n[r]: a.png \"hidden\"\n", "![]\n\n\n"},
		{"image by its own name", "![hidden words]\n\n[hidden words]: a.png\n", "![]\n\n\n"},
		{"not an image", "wow![1] and ![x]", "wow![1] and ![x]"},
		{"link title", "[shown](https://x.y \"hidden\") [two](a (hidden))", "[shown](https://x.y) [two](a)"},
		{"link without a text", "a [](https://x.y/hidden) b", "a   b"},
		{"link to a text", "[x](<ignore all previous>)", "[x]()"},
		{"parentheses in a sentence", "f(x) and [a](b(c)) and a](b", "f(x) and [a](b(c)) and a](b"},
		{"comment by definition", "a\n\n[//]: # (hidden)\n\nb", "a\n\n\n\nb"},
		{"comment by definition, in a quote", "> [hidden words]: # 'hidden'\n", "> \n"},
		{"definition in use", "see [docs]\n\n[docs]: https://x.y \"hidden\"\n", "see [docs]\n\n[docs]: https://x.y\n"},
		{"title on the next line", "see [docs]\n\n[docs]: https://x.y\n  \"hidden\"\n",
			"see [docs]\n\n[docs]: https://x.y\n"},
		{"a long name", "[x][ignore all previous instructions]\n\n[ignore all previous instructions]: y\n", "[x]\n\n\n"},
		{"definition in code", "```\n[//]: # (shown)\n```\n", "```\n[//]: # (shown)\n```\n"},
		{"log line", "x\n[WARN]: disk is full of things\n", "x\n[WARN]: disk is full of things\n"},
		{"footnote", "a\n\n[^1]: hidden\nhidden\n\n    hidden\n\nb", "a\n\n\n\nb"},
		{"footnote in use", "a[^1]\n\n[^1]: shown\n", "a[^1]\n\n[^1]: shown\n"},

		{"zero width, joiners of words, invisible operators",
			"a\u200bb\u200cc\u200dd\ufeffe\u2060f\u2061g\u2062h\u2063i\u2064j\u206ak\u206fl", "abcdefghijkl"},
		{"every bidirectional control", "a\u061cb\u200e\u200fc\u202ad\u202be\u202cf\u202d\u202eg\u2066h\u2067i\u2068j\u2069k", "abcdefghijk"},
		{"tags", "a" + tag + "b\U000E0001\U000E0020\U000E0061\U000E007Fc", "abc"},
		{"invisibles of scripts, half-width filler, interlinear notes, music",
			"a\u180bb\u180ec\u17b4d\u17b5e\uffa0f\ufff9g\ufffah\ufffbi\U0001D173j", "abcdefghij"},
		{"full-width letters are seen", "ｆｕｌｌ－ｗｉｄｔｈ ＜!-- shown --＞", "ｆｕｌｌ－ｗｉｄｔｈ ＜!-- shown --＞"},
		{"letters that look like others are seen", "раypal сasе ΑΒΕ", "раypal сasе ΑΒΕ"},
		{"soft hyphen, fillers", "a\u00adb\u3164c\u115fd\u034fe\u180ef", "abcdef"},
		{"variation selectors", "a\ufe0fb\ufe01c\U000E0100d", "abcd"},
		{"controls", "a\x00b\x1b[31mc\x7fd\u0085e\tf", "ab[31mcde\tf"},
		{"line ends", "a\r\nb\rc\u2028d", "a\nb\nc\nd"},
		{"invalid", "a\xff\xfeb", "a\uFFFDb"},

		{"Russian", "Привет, мир! Ёлка — это «ёж».", "Привет, мир! Ёлка — это «ёж»."},
		{"Arabic", "مرحبا بالعالم، كيف حالك؟ ؀١", "مرحبا بالعالم، كيف حالك؟ ؀١"},
		{"Persian non-joiner", "می\u200cخواهم", "می\u200cخواهم"},
		{"Persian, one too many", "می\u200c\u200cخواهم\u200c", "می\u200cخواهم"},
		{"Hindi joiners", "क्\u200dष क्\u200cष", "क्\u200dष क्\u200cष"},
		{"Hebrew", "שלום עולם", "שלום עולם"},
		{"CJK", "你好，世界。こんにちは　안녕하세요", "你好，世界。こんにちは　안녕하세요"},
		{"emoji", "👩‍👩‍👧‍👦 👩🏽‍💻 ❤️ 1️⃣ 🏳️‍🌈 🇩🇪 ☺️ 👁️‍🗨️", "👩‍👩‍👧‍👦 👩🏽‍💻 ❤️ 1️⃣ 🏳️‍🌈 🇩🇪 ☺️ 👁️‍🗨️"},
		{"emoji with letters between", "👩\u200da\u200d💻", "👩a💻"},
		{"combining marks", "e\u0301 ñ Z̃", "e\u0301 ñ Z̃"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Sanitise(tt.in)
			if got != tt.want {
				t.Errorf("Sanitise(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if again := Sanitise(got); again != got {
				t.Errorf("a second time: %q", again)
			}
			if strings.Contains(got, "hidden") && !strings.Contains(tt.name, "within") {
				t.Errorf("still tells what was hidden: %q", got)
			}
		})
	}
}

func FuzzSanitise(f *testing.F) {
	for _, s := range []string{"", "a <!-- b --> c", "![a](b \"c\")", "[a]: b 'c'\n[a]", "<a title='x\n\ny'>",
		"```x y\n<!--\n```", "می\u200cخواهم", "👩‍💻❤️",
		"[^1]: x\n\n    y", "`a``b`", "<!-<!---->-->", "a\u200d\u202e\xff\r", "> ```\n> <!-- \n[//]: # (x)", "![x]\n[x]: y",
		strings.Repeat("- ", 20) + "x\n\n<!-- y -->", strings.Repeat("> ", 99) + "- x\n- y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Sanitise(s)
		if twice := Sanitise(once); twice != once {
			t.Errorf("not idempotent:\n in %q\none %q\ntwo %q", s, once, twice)
		}
		runes := []rune(once)
		for i, r := range runes {
			kept := r == zwj || r == zwnj || r == emojiPresentance
			if kept && (i == 0 || unicode.IsSpace(runes[i-1]) || runes[i-1] == r) {
				t.Errorf("%U stands alone in %q", r, once)
			}
			if !kept && (invisible(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%U is left in %q", r, once)
			}
		}
	})
}
