//go:build unix && !linux

package journal

import "os"

// dataSync puts a file on the disk.
func dataSync(file *os.File) error { return possible(file.Sync()) }
