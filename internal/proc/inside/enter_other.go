//go:build !linux

package inside

import (
	"fmt"
	"os"
)

// run is for Linux alone.
func run([]string) int {
	fmt.Fprintln(os.Stderr, "ralph: there are no such sandboxes here")
	return 125
}

// KnowsSockets reports whether Steps.Sockets can be kept to here.
func KnowsSockets() bool { return false }
