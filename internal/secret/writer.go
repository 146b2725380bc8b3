package secret

import "strings"

// Finder looks for secrets in what is written to it, however it is parted.
type Finder struct {
	known  *Redactor
	tail   string // the end of what came before: a secret may lie across two writes
	found  bool
	packed bool
}

// Finder makes one.
func (k *Redactor) Finder() *Finder {
	k.ready()
	return &Finder{known: k}
}

// Found reports whether something that was written tells a secret.
func (f *Finder) Found() bool { return f.found }

// Packed reports whether something that was written may be compressed: only whole files tell what is in it.
func (f *Finder) Packed() bool { return f.packed }

// Write implements io.Writer. It never fails.
func (f *Finder) Write(p []byte) (int, error) {
	if f.found || len(f.known.forms) == 0 {
		return len(p), nil
	}
	text := f.tail + string(p)
	f.found = len(f.known.plain(text, false)) > 0
	if !f.packed {
		_, of := nextMark(text, 0)
		f.packed = of != nil
	}
	f.tail = strings.Clone(text[max(0, len(text)-f.known.most):])
	return len(p), nil
}
