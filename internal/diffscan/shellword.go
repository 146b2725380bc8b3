package diffscan

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal is the text of a word. What is known only when it runs is left out: of "$DIR/check.sh" the end stays.
func literal(w *syntax.Word) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts)
			default:
				if b.Len() == 0 {
					b.WriteString(".")
				}
			}
		}
	}
	add(w.Parts)
	return b.String()
}
