package safetext

import (
	"strings"
)

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

// maxInVain is how many bytes may be examined for the ends of tags that have none, and for what stands beside
// comments.
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
	if strings.HasPrefix(rest, "[") {
		if last, ok := m.close[end+1]; ok {
			name := m.in[end+2 : last]
			if m.refs[refName(name)] || name == "" && m.refs[refName(label)] {
				m.take(last+1-m.at, "![]")
				return
			}
		}
	}
	if m.refs[refName(label)] {
		m.take(end+1-m.at, "![]")
		return
	}
	m.keep(1)
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
