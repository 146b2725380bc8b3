package safetext

import (
	"cmp"
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

// dropMarkup goes once over a text and takes out what its markup hides. It errs on the side of dropping: what it takes
// for a comment or a tag and GitHub does not is lost to the agent, never the other way round.
func (r *reading) dropMarkup(s string) string {
	m := markup{in: s, outline: r.outline(s), left: maxInVain}
	if r.overdone {
		return ""
	}
	m.close = brackets(s, m.outline)
	for m.at < len(s) && m.left >= 0 {
		m.step()
	}
	r.overdone = m.left < 0
	return m.out.String()
}

// maxInVain is how many bytes may be examined for the ends of tags that have none, and for the text around comments.
const maxInVain = 4 << 20

type markup struct {
	*outline
	in    string
	at    int
	left  int         // of maxInVain
	close map[int]int // the closing bracket of each opening one
	out   strings.Builder
}

// take replaces the next n bytes.
func (m *markup) take(n int, with string) {
	m.out.WriteString(with)
	m.at += n
}

func (m *markup) keep(n int) { m.take(n, m.in[m.at:m.at+n]) }

func (m *markup) step() {
	if end, ok := m.codeAt(m.at); ok {
		m.keep(end - m.at)
		return
	}
	if end := m.infos[m.at]; end > m.at {
		m.take(end-m.at, language.FindString(m.in[m.at:end]))
		return
	}
	rest := m.in[m.at:]
	switch {
	case rest[0] == '<':
		m.angle(rest)
	case strings.HasPrefix(rest, "!["):
		m.image()
	case rest[0] == '[':
		m.link()
	case strings.HasPrefix(rest, "]("):
		dest, n, ok := linkTail(rest[1:])
		if ok {
			m.take(1+n, "]"+dest)
			return
		}
		m.keep(1)
	case strings.HasPrefix(rest, "]["):
		m.hiddenName()
	case strings.IndexByte("`~ \t", rest[0]) >= 0: // an info string may begin behind it
		m.keep(1)
	default:
		n := strings.IndexAny(rest[1:], "<![]`~ \n")
		if n < 0 {
			n = len(rest) - 1
		}
		m.keep(1 + n)
	}
}

// language is what shows of a fence's info string: the colors of the code.
var language = lazy(`^[A-Za-z0-9+#._-]{1,30}`)

// angle handles a "<": comments and their kin go, tags lose their attributes.
func (m *markup) angle(rest string) {
	if n := hiddenLength(rest); n > 0 {
		with := " " // so that what stood on both sides does not become markup together
		if m.aloneOnLine(n) {
			with = ""
		}
		m.take(n, with)
		return
	}
	if out, n, ok := bareTag(rest); ok {
		m.take(n, out)
		return
	}
	if name := tagName.FindStringSubmatch(rest); name != nil && elements[strings.ToLower(name[1])] {
		m.left -= min(len(rest), maxTag)
	}
	m.keep(1)
}

func (m *markup) aloneOnLine(n int) bool {
	before := strings.TrimRight(m.out.String(), " \t")
	m.left -= m.out.Len() - len(before)
	after := strings.TrimLeft(m.in[m.at+n:], " \t")
	return (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || strings.HasPrefix(after, "\n"))
}

// hiddenLength is how long the comment, instruction or declaration is that s begins with; one that is never closed goes
// to the end.
func hiddenLength(s string) int {
	switch {
	case strings.HasPrefix(s, "<!--"):
		end := until(s[2:], "-->") // "<!-->" is a whole one
		return 2 + until(s[2:2+end], "--!>")
	case strings.HasPrefix(s, "<![CDATA["):
		return until(s, "]]>")
	case strings.HasPrefix(s, "<?"):
		return until(s, "?>")
	case declaration.MatchString(s):
		return until(s, ">")
	}
	return 0
}

var declaration = lazy(`^<![A-Za-z]`)

func until(s, closer string) int {
	if i := strings.Index(s, closer); i >= 0 {
		return i + len(closer)
	}
	return len(s)
}

// image takes an image's alternative text and title away; where it points to stays.
func (m *markup) image() {
	open := m.at + 1
	end, ok := m.close[open]
	if !ok {
		m.keep(2)
		return
	}
	label, rest := m.in[open+1:end], m.in[end+1:]
	if strings.HasPrefix(rest, "(") {
		if dest, n, ok := linkTail(rest); ok {
			m.take(end+1+n-m.at, "![]"+dest)
			return
		}
	}
	last, named := m.close[end+1]
	switch {
	case named && strings.HasPrefix(rest, "[") && m.refs[refName(cmp.Or(m.in[end+2:last], label))]:
		m.take(last+1-m.at, "![]")
	case m.refs[refName(label)]:
		m.take(end+1-m.at, "![]")
	default:
		m.keep(1)
	}
}

// link drops a link that has no text: there is nothing to see of it.
func (m *markup) link() {
	if end, ok := m.close[m.at]; ok && strings.TrimSpace(m.in[m.at+1:end]) == "" {
		if _, n, ok := linkTail(m.in[end+1:]); ok && !strings.HasSuffix(m.out.String(), "!") {
			m.take(end+1+n-m.at, " ")
			return
		}
	}
	m.keep(1)
}

// hiddenName drops the name in "[text][name]" when it is long enough to say something.
func (m *markup) hiddenName() {
	open := m.at + 1
	end, ok := m.close[open]
	if !ok {
		m.keep(1)
		return
	}
	name := m.in[open+1 : end]
	if m.refs[refName(name)] && (len(name) > 40 || len(strings.Fields(name)) > 2) {
		m.take(end+1-m.at, "]")
		return
	}
	m.keep(1)
}

// linkTail reads "(destination "title")" and gives it back without the title; n is its length. A destination with white
// space in it is a text in disguise and goes too.
func linkTail(s string) (dest string, n int, ok bool) {
	s = s[:min(len(s), maxTail)]
	if found := tail.FindStringSubmatch(s[:strings.LastIndexByte(s, ')')+1]); found != nil {
		dest = found[1]
		if strings.ContainsAny(dest, " \t") {
			dest = ""
		}
		return "(" + dest + ")", len(found[0]), true
	}
	return "", 0, false
}

const maxTail = 4 << 10

const title = `(?:"(?:[^"\\\n]|\\[^\n]|\n[ \t>]*[^ \t\n"])*"|'(?:[^'\\\n]|\\[^\n]|\n[ \t>]*[^ \t\n'])*'|\((?:[^()\\\n]|\\[^\n]|\n[ \t>]*[^ \t\n)])*\))`

var tail = lazy(
	`^\([ \t\n]*(<(?:[^<>\n\\]|\\.)*>|(?:[^\s()\\<]|\\\S|\((?:[^\s()\\]|\\\S|\([^\s()]*\))*\))(?:[^\s()\\]|\\\S|\((?:[^\s()\\]|\\\S|\([^\s()]*\))*\))*|)(?:[ \t\n]+` +
		title + `)?[ \t\n]*\)`)

// brackets pairs the square brackets outside code, paragraph by paragraph.
func brackets(s string, o *outline) map[int]int {
	pairs := map[int]int{}
	var open []int
	for i := 0; i < len(s); i++ {
		if end, ok := o.codeAt(i); ok {
			i = end - 1
			continue
		}
		switch s[i] {
		case '\\':
			i++
		case '\n':
			if strings.HasPrefix(strings.TrimLeft(s[i+1:min(len(s), i+80)], " \t>"), "\n") {
				open = nil
			}
		case '[':
			open = append(open, i)
		case ']':
			if n := len(open); n > 0 {
				pairs[open[n-1]] = i
				open = open[:n-1]
			}
		}
	}
	return pairs
}

const container = `[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*`

// definition is "[name]: address "title"", of which a reader sees nothing.
var definition = lazy(`(?m)^(` + container +
	`)\[((?:[^\[\]\\\n]|\\[^\n]|\n[ \t>]*[^ \t\n\[\]])+)\]:[ \t]*\n?[ \t>]*(<[^<>\n]*>|[^\s<]\S*)(?:(?:[ \t]+|[ \t]*\n[ \t>]*)` + title + `)?[ \t]*$`)

// footnote begins a note that shows only where something refers to it.
var footnote = lazy(`^` + container + `\[\^([^\]\s]+)\]:`)

// reference is a footnote's mark in the text.
var reference = lazy(`\[\^([^\]\s]+)\](?:[^:]|$)`)

// dropDefinitions takes titles out of link definitions, and drops those that nothing in the text refers to:
// "[//]: # (like this)" is a comment by another name.
func (r *reading) dropDefinitions(s string) string {
	if !strings.Contains(s, "]:") {
		return s
	}
	o := r.outline(s)
	found := definition.FindAllStringSubmatchIndex(s, -1)
	var body strings.Builder // the text without its definitions
	at := 0
	for _, f := range found {
		body.WriteString(s[at:f[0]])
		at = f[1]
	}
	body.WriteString(s[at:])
	used := labels(body.String())

	var out strings.Builder
	at = 0
	for _, f := range found {
		label := s[f[4]:f[5]]
		if _, code := o.codeAt(f[4]); code || !o.refs[refName(label)] {
			continue
		}
		out.WriteString(s[at:f[0]])
		at = f[1]
		out.WriteString(s[f[2]:f[3]]) // the quote or list it is in
		if address := s[f[6]:f[7]]; !strings.Contains(address, " ") && used[foldLabel(label)] {
			out.WriteString("[" + label + "]: " + address)
		}
	}
	out.WriteString(s[at:])
	return out.String()
}

// labels are the texts in square brackets that have none in them.
func labels(s string) map[string]bool {
	found := map[string]bool{}
	open := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			open = i + 1
		case ']':
			if open >= 0 {
				found[foldLabel(s[open:i])] = true
			}
			open = -1
		}
	}
	return found
}

func foldLabel(s string) string { return strings.ToLower(OneLine(s)) }

// dropFootnotes drops notes without a reference, each to the end of its paragraph and the indented ones behind it.
func (r *reading) dropFootnotes(s string) string {
	if !strings.Contains(s, "[^") || !strings.Contains(s, "]:") {
		return s
	}
	o := r.outline(s)
	referred := map[string]bool{}
	for _, m := range reference.FindAllStringSubmatch(s, -1) {
		referred[m[1]] = true
	}
	lines := strings.SplitAfter(s, "\n")
	var out []string
	pos := 0
	dropping, afterBlank := false, true
	for _, line := range lines {
		blank := strings.TrimSpace(line) == ""
		if afterBlank && !blank && line[0] != ' ' && line[0] != '\t' {
			dropping = false
		}
		afterBlank = blank
		if m := footnote.FindStringSubmatch(line); m != nil {
			_, code := o.codeAt(pos + len(m[0]) - 1)
			dropping = !code && !referred[m[1]]
		}
		if !dropping || blank {
			out = append(out, line)
		}
		pos += len(line)
	}
	return strings.Join(out, "")
}
