//go:build !darwin

package journal

import (
	"os"
	"strings"
)

// bootID names the time since the machine was started; empty on systems without such a name.
func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}
