package regex

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// machine tells whether texts match, and not where. It follows all ways through an expression at once, by states that it
// makes when a text first needs them: a character then takes a look into a table.
type machine struct {
	prog   *syntax.Prog
	begin  string // what each match begins with
	later  bool   // a match can begin behind the beginning of a text
	busy   sync.Mutex
	fills  int // how often it was full
	states []state
	known  map[string]int16 // the numbers of states
	next   []int16          // by state, columns of each: the state after the end or an ASCII character; 0: not made yet
	other  map[rare]int16   // the same after other characters, of which mostOther are kept
}

// state is where all ways continue after a character.
type state struct {
	before rune // or another of its kind
	ways   []uint32
}

// rare is a state and a character.
type rare struct {
	state int16
	char  rune
}

const (
	matched int16 = iota + 1
	failed
	full  // there are more states than are kept
	first // what is before is nothing

	end        = rune(-1) // before a text, and behind it
	columns    = utf8.RuneSelf + 2
	mostStates = 300
	mostOther  = 256
	mostFills  = 10 // after that, it is of no use for the texts at hand
)

// newMachine is the machine of an expression. It panics if the text is not an expression.
func newMachine(text string) *machine {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		panic(err)
	}
	prog, _ := syntax.Compile(parsed.Simplify())
	m := &machine{prog: prog}
	m.begin, _ = prog.Prefix()
	m.later = len(m.through([]uint32{uint32(prog.Start)}, ^syntax.EmptyBeginText)) > 0
	m.clear()
	return m
}

// clear forgets all states but those that every machine has.
func (m *machine) clear() {
	m.states, m.next = make([]state, first), make([]int16, int(first)*columns)
	m.known, m.other = map[string]int16{}, map[rare]int16{}
	m.state(end, []uint32{uint32(m.prog.Start)})
}

// matches reports whether a text matches, and whether the machine knows: not when it is in use, nor when the text has
// filled it.
func (m *machine) matches(s string) (matches, known bool) {
	if !strings.Contains(s, m.begin) {
		return false, true
	}
	if !m.busy.TryLock() {
		return false, false
	}
	defer m.busy.Unlock()
	if m.fills == mostFills {
		return false, false
	}
	at := first
	for i := 0; at >= first; {
		char, size := end, 1
		if i < len(s) {
			char, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		from := at
		if at = m.next[place(from, char)]; at == 0 {
			at = m.after(from, char)
		}
	}
	if at == full {
		m.fills++
		m.clear()
	}
	return at == matched, at != full
}

// place is where the state after a character is kept; the characters beyond ASCII share one, where none is.
func place(from int16, char rune) int { return int(from)*columns + 1 + int(min(char, utf8.RuneSelf)) }

// after is the state after a character, made when it is not known.
func (m *machine) after(from int16, char rune) int16 {
	to := m.other[rare{from, char}]
	if to == 0 {
		to = m.step(from, char)
	}
	if char < utf8.RuneSelf {
		m.next[place(from, char)] = to
	} else if len(m.other) < mostOther {
		m.other[rare{from, char}] = to
	}
	return to
}

// step makes the state after a character.
func (m *machine) step(from int16, char rune) int16 {
	var on []uint32
	for _, in := range m.through(m.states[from].ways, syntax.EmptyOpContext(m.states[from].before, char)) {
		if in.Op == syntax.InstMatch {
			return matched
		}
		if in.MatchRune(char) {
			on = append(on, in.Out)
		}
	}
	if m.later {
		on = append(on, uint32(m.prog.Start))
	}
	if len(on) == 0 || char == end {
		return failed
	}
	return m.state(char, on)
}

// through are the instructions at which ways are before a character, or have matched, where some conditions hold.
func (m *machine) through(ways []uint32, holds syntax.EmptyOp) (reached []*syntax.Inst) {
	seen := make([]bool, len(m.prog.Inst))
	for open := slices.Clone(ways); len(open) > 0; {
		way := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[way] {
			continue
		}
		seen[way] = true
		switch in := &m.prog.Inst[way]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			open = append(open, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			open = append(open, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				open = append(open, in.Out)
			}
		case syntax.InstFail:
		default:
			reached = append(reached, in)
		}
	}
	return reached
}

// state is the number of the state in which ways continue after a character.
func (m *machine) state(before rune, ways []uint32) int16 {
	switch {
	case syntax.IsWordChar(before):
		before = 'a'
	case before != '\n' && before != end:
		before = ' '
	}
	slices.Sort(ways)
	ways = slices.Compact(ways)
	key := binary.AppendVarint(nil, int64(before))
	for _, way := range ways {
		key = binary.AppendUvarint(key, uint64(way))
	}
	known := m.known[string(key)]
	switch {
	case known != 0:
		return known
	case len(m.states) == mostStates:
		return full
	}
	known = int16(len(m.states))
	m.known[string(key)] = known
	m.states, m.next = append(m.states, state{before, ways}), append(m.next, make([]int16, columns)...)
	return known
}
