package journal

import "os"

// dataSync puts a file on the disk.
func dataSync(file *os.File) error { return file.Sync() }

// syncDir does nothing: this system keeps the names itself.
func syncDir(string) error { return nil }
