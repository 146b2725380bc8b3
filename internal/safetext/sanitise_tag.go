package safetext

import (
	"strings"
)

// strictTag is a tag as CommonMark has it. Anything else in angle brackets, such as Map<K, V>, is visible text, unless
// it begins with the name of a real element: inside a block of HTML a browser reads those whatever they look like.
var strictTag = lazy(
	"^</?[A-Za-z][A-Za-z0-9-]*(?:\\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\\s*=\\s*(?:[^\\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*\\s*/?>")

var tagName = lazy(`^</?([A-Za-z][A-Za-z0-9-]*)`)

var elements = set(
	`a abbr acronym address applet area article aside audio b base basefont bdi bdo big blockquote body br button canvas
caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font
footer form frame frameset g h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark
math menu meta meter nav noembed noframes noscript object ol optgroup option output p param path picture plaintext pre progress q rp rt
ruby s samp script search section select slot small source span strike strong style sub summary sup svg table tbody td template textarea
tfoot th thead time title tr track tt u ul var video wbr xmp`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// maxTag bounds the search for a tag's end.
const maxTag = 8 << 10

// bareTag reads the tag that s begins with and gives it back without its attributes but for href and src; n is its length.
func bareTag(s string) (bare string, n int, ok bool) {
	name := tagName.FindStringSubmatch(s)
	if name == nil || len(name[0]) == len(s) || !strings.ContainsRune(" \t\n/>", rune(s[len(name[0])])) {
		return "", 0, false
	}
	if len(s) > maxTag {
		s = s[:maxTag]
	}
	if !elements[strings.ToLower(name[1])] {
		whole := strictTag.FindString(s)
		if whole == "" {
			return "", 0, false
		}
		s = whole
	}
	if !strings.Contains(s, ">") {
		return unclosedTag(s)
	}
	attrs, n, closed := attributes(s[len(name[0]):])
	n += len(name[0])
	if !closed {
		return unclosedTag(s)
	}
	bare = name[0]
	for _, a := range attrs {
		if visibleAttr.MatchString(a) && !strings.HasPrefix(name[0], "</") {
			bare += " " + a
		}
	}
	if strings.HasSuffix(s[:n], "/>") && !strings.HasSuffix(bare, "=") {
		bare += "/"
	}
	return bare + ">", n, true
}

// visibleAttr is an address without white space, which someone may follow.
var visibleAttr = lazy(`(?i)^(?:href|src)=(?:"[^\s"]*"|'[^\s']*'|[^\s"'=<>/]+)$`)

var quotedAttr = lazy(`^</?[A-Za-z][A-Za-z0-9-]*[\s/][^\n]*?=\s*["']`)

// unclosedTag drops a tag that never ends, together with its paragraph: a browser would show nothing of it. A bare "<b" in a
// sentence is no tag.
func unclosedTag(s string) (string, int, bool) {
	if !strings.ContainsAny(s, "\"'") || !quotedAttr.MatchString(s[:min(len(s), 1<<10)]) {
		return "", 0, false
	}
	if i := strings.Index(s, "\n\n"); i >= 0 {
		return " ", i, true
	}
	return " ", len(s), true
}

// attributes splits what follows a tag's name, up to and with its ">", as a browser does: a quote counts only behind an equals sign.
func attributes(s string) (attrs []string, n int, closed bool) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '>':
			return attrs, i + 1, true
		case strings.IndexByte(" \t\n/", c) >= 0:
			i++
			if c == '\n' && strings.HasPrefix(s[i:], "\n") {
				return nil, 0, false // a blank line ends the paragraph, and with it the tag
			}
		default:
			end, ok := attributeEnd(s, i)
			if !ok {
				return nil, 0, false
			}
			attrs = append(attrs, s[i:end])
			i = end
		}
	}
	return nil, 0, false
}

func attributeEnd(s string, i int) (end int, ok bool) {
	for i++; i < len(s) && strings.IndexByte(" \t\n/>=", s[i]) < 0; i++ {
	}
	j := i + leadingSpace(s[i:])
	if j >= len(s) || s[j] != '=' {
		return i, true
	}
	j++
	j += leadingSpace(s[j:])
	if j >= len(s) {
		return 0, false
	}
	if q := s[j]; q == '"' || q == '\'' {
		k := strings.IndexByte(s[j+1:], q)
		if k < 0 {
			return 0, false
		}
		return j + 1 + k + 1, true
	}
	for ; j < len(s) && strings.IndexByte(" \t\n>", s[j]) < 0; j++ {
	}
	return j, true
}

func leadingSpace(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\n")) }
