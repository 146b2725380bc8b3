package gateway

import "bytes"

// field is a member of a JSON object that is searched for: its value is taken, or members in it are searched for.
type field struct {
	name string
	as   int     // the index of its value among the results
	in   []field // members of the object that it is
}

const (
	mostValue = 64 << 10 // bytes of a value that is taken; one that is longer is not
	mostName  = 32       // bytes of a name that is examined
)

// jsonPicker takes the values of a few members out of JSON that comes in pieces, and keeps nothing else. An array at the
// top stands for its elements. What is no JSON makes it find nothing, or something wrong, and never take more memory.
type jsonPicker struct {
	fields []field
	got    func(as int, value []byte)

	frames  [4]frame
	deep    int // frames that are open
	name    []byte
	naming  bool // a string that has begun is a name
	take    int  // as what the value that has begun is taken; 0: it is skipped
	value   []byte
	nested  int // brackets that are open in it
	scalar  bool
	quoted  bool // in a string
	escaped bool // after a backslash
}

// frame is an object in which members are searched for, or the array at the top.
type frame struct {
	fields []field
	object bool
	value  bool   // a name and a colon have been read
	member *field // the one that was named
}

// reset forgets what was begun.
func (k *jsonPicker) reset() {
	*k = jsonPicker{fields: k.fields, got: k.got, name: k.name[:0], value: k.value[:0]}
}

// write reads a piece.
func (k *jsonPicker) write(p []byte) {
	for len(p) > 0 {
		switch {
		case k.quoted:
			p = p[k.text(p):]
		case k.scalar || k.nested > 0:
			p = p[k.inside(p):]
		default:
			k.between(p[0])
			p = p[1:]
		}
	}
}

// text reads on in a string and returns how many bytes belong to it.
func (k *jsonPicker) text(p []byte) int {
	at := 0
	if k.escaped {
		k.escaped, at = false, 1
	}
	at = stringEnd(p, at)
	if at > len(p) {
		k.escaped = true
	}
	ended := at < len(p)
	n := min(at, len(p))
	if ended {
		n++
		k.quoted = false
	}
	k.keep(p[:n])
	if ended {
		k.ended()
	}
	return n
}

// stringEnd is where the quote is that ends the string that continues at a place in a text. It is the length of the
// text if the string does not end there, and one more if a backslash is its last byte.
func stringEnd(p []byte, at int) int {
	quote := -1
	for at < len(p) {
		if quote < at {
			if quote = bytes.IndexByte(p[at:], '"'); quote < 0 {
				quote = len(p)
			} else {
				quote += at
			}
		}
		back := bytes.IndexByte(p[at:quote], '\\')
		if back < 0 {
			return quote
		}
		at += back + 2
	}
	return at
}

// inside reads on in a value that is not wanted piece by piece: an object, an array, a number.
func (k *jsonPicker) inside(p []byte) int {
	for i, c := range p {
		switch c {
		case '"':
			k.keep(p[:i+1])
			k.quoted = true
			return i + 1
		case '{', '[':
			k.nested++
		case '}', ']':
			if k.scalar {
				k.keep(p[:i])
				k.tell()
				return i
			}
			if k.nested--; k.nested == 0 {
				k.keep(p[:i+1])
				k.tell()
				return i + 1
			}
		case ',', ' ', '\n', '\r', '\t':
			if k.scalar {
				k.keep(p[:i])
				k.tell()
				return i
			}
		}
	}
	k.keep(p)
	return len(p)
}

// keep remembers a piece of a name or of a value that is taken.
func (k *jsonPicker) keep(p []byte) {
	switch {
	case k.naming && len(k.name)+len(p) <= mostName:
		k.name = append(k.name, p...)
	case k.naming:
		k.name = append(k.name[:0], "-"...) // no name of ours
	case k.take > 0 && len(k.value)+len(p) <= mostValue:
		k.value = append(k.value, p...)
	default:
		k.take, k.value = 0, k.value[:0]
	}
}

// ended is after a string's last quote.
func (k *jsonPicker) ended() {
	if !k.naming {
		if k.nested == 0 {
			k.tell()
		}
		return
	}
	k.naming = false
	f := &k.frames[k.deep-1]
	f.member = nil
	for i := range f.fields {
		if name := f.fields[i].name; len(k.name) == len(name)+1 && string(k.name[:len(name)]) == name {
			f.member = &f.fields[i]
		}
	}
}

// tell hands a whole value over.
func (k *jsonPicker) tell() {
	if k.take > 0 {
		k.got(k.take, k.value)
	}
	k.take, k.value, k.scalar, k.nested = 0, k.value[:0], false, 0
}

// between reads a byte that is in no name and in no value.
func (k *jsonPicker) between(c byte) {
	if k.deep == 0 {
		if c == '{' || c == '[' {
			k.open(frame{fields: k.fields, object: c == '{'})
		}
		return
	}
	f := &k.frames[k.deep-1]
	switch c {
	case ' ', '\n', '\r', '\t':
	case ',':
		f.value = false
	case ':':
		f.value = f.object
	case '}', ']':
		k.deep--
	default:
		if f.object && !f.value {
			k.naming, k.quoted, k.name = c == '"', c == '"', k.name[:0]
			return
		}
		k.begin(f, c)
	}
}

// begin opens a value.
func (k *jsonPicker) begin(f *frame, c byte) {
	member := f.member
	f.member = nil
	switch {
	case !f.object && c == '{': // an element of the array at the top
		k.open(frame{fields: f.fields, object: true})
		return
	case member != nil && member.in != nil && c == '{':
		k.open(frame{fields: member.in, object: true})
		return
	case member != nil && member.in == nil:
		k.take = member.as
	}
	k.quoted = c == '"'
	if c == '{' || c == '[' {
		k.nested = 1
	}
	k.scalar = !k.quoted && k.nested == 0
	k.keep([]byte{c})
}

func (k *jsonPicker) open(f frame) {
	if k.deep < len(k.frames) {
		k.frames[k.deep] = f
		k.deep++
	}
}
