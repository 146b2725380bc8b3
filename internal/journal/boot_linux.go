package journal

import (
	"os"
	"strings"
)

// bootID names the time since the machine was started; empty when it cannot be told.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
