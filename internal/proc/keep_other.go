//go:build !linux

package proc

import "os"

// innermost is the process itself: what keeps a box here passes signals on.
func (r *running) innermost() *os.Process { return r.process }
