//go:build !linux

package proc

// ForgetSecrets does nothing here: there is no /proc that shows them.
func ForgetSecrets() error { return nil }
