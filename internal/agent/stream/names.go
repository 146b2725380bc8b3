package stream

import "strings"

// mostNames is how many tools without an answer are remembered, and longestName how long an id or a name may be for
// that.
const (
	mostNames   = 1 << 10
	longestName = 256
)

// names are the names of the tools that have begun and not answered, by their ids. What comes from an agent may have no
// end, so an id that is too much is not remembered.
type names map[string]string

// add remembers a tool and reports whether it is new.
func (n names) add(id, name string) bool {
	if _, known := n[id]; known {
		return false
	}
	if len(id) > longestName || len(name) > longestName {
		return true
	}
	if len(n) >= mostNames { // none of them will answer
		clear(n)
	}
	n[strings.Clone(id)] = strings.Clone(name)
	return true
}

// take is the name of a tool that has answered, and forgets it.
func (n names) take(id string) string {
	name := n[id]
	delete(n, id)
	return name
}
