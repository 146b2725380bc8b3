//go:build !linux

package proc

// ForgetEnvironment does nothing here: there is no /proc that shows it.
func ForgetEnvironment(func(name string) bool) error { return nil }
