package inside

import "os"

// init takes over where our own program was started in a box.
func init() {
	if len(os.Args) > 1 && os.Args[1] == Entry {
		os.Exit(run(os.Args[2:]))
	}
}
