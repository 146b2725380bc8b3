package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ForgetSecrets overwrites what others read of our own environment in /proc, which shows what we were started with,
// where a name looks like that of a secret. Our own copies stay. It has to come before HideSelf.
func ForgetSecrets() error {
	text, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return fmt.Errorf("reading our own environment: %w", err)
	}
	begin, err := environBegins()
	if err != nil {
		return err
	}
	var memory *os.File
	for at := 0; at < len(text); {
		entry, _, _ := bytes.Cut(text[at:], []byte{0})
		name, value, _ := bytes.Cut(entry, []byte{'='})
		if len(value) > 0 && (NamesSecret(string(name)) || strings.HasSuffix(string(name), "_CUSTOM_HEADERS")) {
			if memory == nil {
				if memory, err = os.OpenFile("/proc/self/mem", os.O_WRONLY, 0); err != nil {
					return fmt.Errorf("overwriting our own environment: %w", err)
				}
				defer memory.Close()
			}
			from := begin + int64(at+len(entry)-len(value))
			if _, err := memory.WriteAt(bytes.Repeat([]byte{'x'}, len(value)), from); err != nil {
				return fmt.Errorf("overwriting our own environment: %w", err)
			}
		}
		at += len(entry) + 1
	}
	return nil
}

// environField is the number of the field in /proc/PID/stat that says where the environment begins, from the field
// behind the program's name.
const environField = 50 - 3

// environBegins is where our environment begins in our memory.
func environBegins() (int64, error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, fmt.Errorf("finding our own environment: %w", err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= environField {
		return 0, fmt.Errorf("finding our own environment: %d fields", len(fields))
	}
	begin, err := strconv.ParseInt(fields[environField], 10, 64)
	if err != nil || begin <= 0 {
		return 0, fmt.Errorf("finding our own environment: it begins at %q", fields[environField])
	}
	return begin, nil
}
