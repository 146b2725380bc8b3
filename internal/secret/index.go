package secret

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// The index holds every eighth run of eight bytes of the forms. Whatever is 15 bytes of a form in a row has one of them
// in it; so a text is read once, eight bytes at each place are looked up in a table of bits, and nearly none are there.

// grain is how many bytes are looked up at once.
const grain = 8

// place is where a run of bytes stands in a form.
type place struct {
	bytes    uint64
	form, at int32
}

type index struct {
	filter []uint64
	shift  uint
	places []place // in the order of their bytes
}

// mostPlaces bounds the places with the same bytes: a value may be one letter, many times.
const mostPlaces = 16

func indexed(forms []form) index {
	var x index
	for i, f := range forms {
		for at := 0; len(f.text) >= grain; at += grain {
			at = min(at, len(f.text)-grain)
			x.places = append(x.places, place{load(f.text, at), int32(i), int32(at)})
			if at == len(f.text)-grain {
				break
			}
		}
	}
	if len(x.places) == 0 {
		return x
	}
	slices.SortFunc(x.places, func(a, b place) int { return cmp.Compare(a.bytes, b.bytes) })
	size := max(10, bits.Len(uint(len(x.places)))+7) // one bit in 128 is set
	x.shift, x.filter = uint(64-size), make([]uint64, 1<<(size-6))
	for _, p := range x.places {
		h := hashed(p.bytes) >> x.shift
		x.filter[h>>6] |= 1 << (h & 63)
	}
	return x
}

func hashed(bytes uint64) uint64 { return bytes * 0x9E3779B97F4A7C15 }

func load(s string, at int) uint64 {
	s = s[at : at+grain]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// next is the first place at or after from whose bytes a form has, and where such are among the places; -1 when there
// is none.
func (x *index) next(text string, from int) (at, first int) {
	if len(x.filter) == 0 || from+grain > len(text) {
		return -1, 0
	}
	window := load(text, from)
	for at = from; ; at++ {
		h := hashed(window) >> x.shift
		if x.filter[h>>6]&(1<<(h&63)) != 0 {
			i, ok := slices.BinarySearchFunc(x.places, window, func(p place, b uint64) int { return cmp.Compare(p.bytes, b) })
			if ok {
				return at, i
			}
		}
		if at+grain >= len(text) {
			return -1, 0
		}
		window = window>>8 | uint64(text[at+grain])<<56
	}
}

// plain finds the forms as they are.
func (k *Redactor) plain(text string, shared bool) (found []Span) {
	for from := 0; ; {
		at, first := k.index.next(text, from)
		if at < 0 {
			break
		}
		best := Span{From: at, To: at}
		for i := first; i < len(k.index.places) && i < first+mostPlaces && k.index.places[i].bytes ==
			k.index.places[first].bytes; i++ {
			if s, ok := k.around(text, at, k.index.places[i], shared); ok && s.To-s.From > best.To-best.From {
				best = s
			}
		}
		if best.As != "" {
			found = append(found, best)
		}
		from = max(at+1, best.To-grain+1)
	}
	for _, i := range k.short {
		f := k.forms[i]
		for from := 0; shared || !f.shared; {
			at := strings.Index(text[from:], f.text)
			if at < 0 {
				break
			}
			found = append(found, Span{from + at, from + at + len(f.text), f.as})
			from += at + len(f.text)
		}
	}
	return found
}

// leastKinds is how many different characters a part of a form must have: a row of equal ones is nobody's.
const leastKinds = 6

// around is as much of a form as stands around a place of a text; ok is false when that tells nothing.
func (k *Redactor) around(text string, at int, p place, shared bool) (s Span, ok bool) {
	f := &k.forms[p.form]
	if f.shared && !shared {
		return s, false
	}
	from, inForm := at, int(p.at)
	for from > 0 && inForm > 0 && text[from-1] == f.text[inForm-1] {
		from, inForm = from-1, inForm-1
	}
	to, inForm := at+grain, int(p.at)+grain
	for to < len(text) && inForm < len(f.text) && text[to] == f.text[inForm] {
		to, inForm = to+1, inForm+1
	}
	if to-from < f.least || to-from < len(f.text) && kinds(text[from:to]) < leastKinds {
		return s, false
	}
	return Span{from, to, f.as}, true
}
