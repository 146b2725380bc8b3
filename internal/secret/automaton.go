package secret

import (
	"cmp"
	"strings"
)

// automaton finds forms in a text in one pass (Aho and Corasick). Line ends do not count, neither in a form nor within a
// match: what is wrapped is found. A place at which no form can begin costs one look at two bytes.
type automaton struct {
	nodes []node
	forms []form
	root  [256]int32 // the nodes of one byte
	begin bits       // the pairs of bytes that a form starts with
	pairs bits       // those, and the pairs that follow the first byte of a form
	three bits       // the hashes of the three bytes that a form starts with
	most  int        // the length of the longest form
}

// bits is a set of numbers of 16 bits.
type bits [1 << 10]uint64

func (b *bits) add(n uint16)      { b[n>>6] |= 1 << (n & 63) }
func (b *bits) has(n uint16) bool { return b[n>>6]>>(n&63)&1 != 0 }

func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

func hashOf(a, b, c byte) uint16 {
	return uint16((uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 0x9E3779B1 >> 16)
}

// node is what has been read of some forms. Nodes are named by their index; 0 is nothing.
type node struct {
	child, next int32 // the first of those that are one byte longer, and the next of its parent's
	fail        int32 // the longest other one that ends as this does
	form        int32 // the longest form that ends here and is whole, as its index plus 1; 0 if no form ends here
	depth       int32
	last        byte
}

// newAutomaton builds the automaton of some forms.
func newAutomaton(forms []form) *automaton {
	m := &automaton{nodes: make([]node, 1)}
	for _, f := range forms {
		if f.text = unwrapped(f.text); len(f.text) >= leastForm {
			m.forms = append(m.forms, f)
			m.add(f.text)
		}
	}
	var queue []int32
	for _, c := range m.root {
		if c != 0 {
			queue = append(queue, c)
		}
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for c := m.nodes[at].child; c != 0; c = m.nodes[c].next {
			queue = append(queue, c)
			n := &m.nodes[c]
			for f := at; f != 0 && n.fail == 0; {
				f = m.nodes[f].fail
				n.fail = m.child(f, n.last)
			}
			if n.form == 0 {
				n.form = m.nodes[n.fail].form
			}
		}
	}
	return m
}

// leastForm is how many bytes a form has at least.
const leastForm = 3

func (m *automaton) add(text string) {
	at := int32(0)
	for i := range len(text) {
		to := m.child(at, text[i])
		if to == 0 {
			to = int32(len(m.nodes))
			m.nodes = append(m.nodes, node{depth: int32(i) + 1, last: text[i]})
			if at == 0 {
				m.root[text[i]] = to
			} else {
				m.nodes[to].next, m.nodes[at].child = m.nodes[at].child, to
			}
		}
		at = to
	}
	if m.nodes[at].form == 0 {
		m.nodes[at].form = int32(len(m.forms))
	}
	m.most = max(m.most, len(text))
	for _, c := range []byte{0, '\n', '\r', '\\'} { // a line may end behind each byte
		m.begin.add(pairOf(text[0], cmp.Or(c, text[1])))
		m.pairs.add(pairOf(text[0], cmp.Or(c, text[1])))
		m.pairs.add(pairOf(text[1], cmp.Or(c, text[2])))
		for second := 0; c != 0 && second < 256; second++ {
			m.pairs.add(pairOf(c, byte(second)))
		}
	}
	m.three.add(hashOf(text[0], text[1], text[2]))
	if dense := strings.NewReplacer(" ", "", "\t", "").Replace(text); len(dense) >= leastForm {
		m.three.add(hashOf(dense[0], dense[1], dense[2])) // an indent of the text takes the blanks with it
	}
}

// child is the node one byte longer than another; 0 without one.
func (m *automaton) child(at int32, b byte) int32 {
	if at == 0 {
		return m.root[b]
	}
	c := m.nodes[at].child
	for c != 0 && m.nodes[c].last != b {
		c = m.nodes[c].next
	}
	return c
}

// next is the first place at or after from at which a form can begin, otherwise the length of the text. It looks at
// every other pair of bytes.
func (m *automaton) next(text string, from int) int {
	for i := from; i+1 < len(text); i += 2 {
		if !m.pairs.has(pairOf(text[i], text[i+1])) {
			continue
		}
		if i > from && m.mayBegin(text[i-1:]) {
			return i - 1
		}
		if m.mayBegin(text[i:]) {
			return i
		}
	}
	return len(text)
}

// mayBegin reports whether a text begins with the three bytes that a form begins with, whatever line ends and indents are
// between them.
func (m *automaton) mayBegin(text string) bool {
	if len(text) < leastForm || !m.begin.has(pairOf(text[0], text[1])) {
		return false
	}
	var head [leastForm]byte
	for i, n := 0, 0; i < len(text); n, i = n+1, i+1 {
		for end := lineEnd(text, i); end > 0; end = lineEnd(text, i) {
			for i += end; i < len(text) && isBlank(text[i]); i++ {
			}
		}
		if i == len(text) {
			return false
		}
		if head[n] = text[i]; n+1 == leastForm {
			return m.three.has(hashOf(head[0], head[1], head[2]))
		}
	}
	return false
}

// find calls found with the longest form that ends at each place of a text, as long as it returns true. What a text ends
// in counts if it has leastPart bytes of a form.
func (m *automaton) find(text string, found func(f *form, from, to int) (more bool)) {
	var starts []int // of the bytes that have been read since a form might have begun
	at, newLine := int32(0), false
	for i := 0; i < len(text); {
		if at == 0 {
			if i = m.next(text, i); i == len(text) {
				return
			}
			starts = starts[:0]
		} else if n := lineEnd(text, i); n > 0 {
			i, newLine = i+n, true
			continue
		} else if newLine && isBlank(text[i]) && m.child(at, text[i]) == 0 {
			i++
			continue
		}
		newLine = false
		to := m.child(at, text[i])
		for to == 0 && at != 0 {
			at = m.nodes[at].fail
			to = m.child(at, text[i])
		}
		at = to
		starts = append(starts, i)
		i++
		if n := m.nodes[at]; n.form != 0 {
			f := &m.forms[n.form-1]
			if !found(f, starts[len(starts)-len(f.text)], i) {
				return
			}
		}
		if len(starts) > 4*m.most {
			starts = append(starts[:0], starts[len(starts)-m.most:]...)
		}
	}
	if depth := int(m.nodes[at].depth); depth >= leastPart && kinds(text[starts[len(starts)-depth]:]) >= leastKinds {
		found(&form{as: asItIs, shared: true}, starts[len(starts)-depth], len(text))
	}
}

// lineEnd is the length of the line ends at a place of a text, which can be 0. They may be escaped, once or more, as in
// JSON.
func lineEnd(text string, at int) int {
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '\n', '\r':
			continue
		case '\\':
			n := i + 1
			for n < len(text) && text[n] == '\\' {
				n++
			}
			if n < len(text) && (text[n] == 'n' || text[n] == 'r') {
				i = n
				continue
			}
		}
		return i - at
	}
	return len(text) - at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// unwrapped is a text without its line ends and the blanks that lines begin with.
func unwrapped(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if n := lineEnd(text, i); n > 0 {
			for i += n; i < len(text) && isBlank(text[i]); i++ {
			}
			continue
		}
		out = append(out, text[i])
		i++
	}
	return string(out)
}
