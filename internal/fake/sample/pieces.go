package sample

import (
	"math/rand/v2"
	"strings"
)

// pieces are what hostile texts are made of; put together at random they find what no one thinks of.
var pieces = []string{"`", "``", "```", "~~~", "````", "@a", "#1", "GH-2", "a/b#3", "https://x.y/z", "www.x.yz", "\\",
	"\\\\", "[", "]", "(", ")", "](x)", "![", "<", ">", "<!--", "-->",
	"<!-- ralph:run:x -->", "<details>", "</details>", "<sub>", "</code></summary>", "&#64;b", "&lt;", "*", "**", "_", "|",
	"---", "===", "\n", "\n\n", " ", "    ", "\t", "> ", "- ", "1. ",
	"# ", "x", "word", "/ralph run", "::x::", "fixes ", "\u200b", "\u00a0", "🙂", "[a]: b", "[^1]", "[^1]: c", "~", "$",
	".", ",", ":", "mail@x.yz", "\r", "\x1b[1m", "- [x] ", "{", "}", "'", "\""}

// Some are at most most pieces.
func Some(random *rand.Rand, most int) string {
	var b strings.Builder
	for range random.IntN(most) {
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	return b.String()
}
