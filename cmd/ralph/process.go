package main

import (
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/safetext"
)

func environment(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		m[name] = value
	}
	return m
}

var now = func() time.Time { return time.Now().UTC() }

func isTerminal(w io.Writer) bool {
	file, ok := safetext.Raw(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// columns is how wide a terminal is; 0 for anything else.
func columns(w io.Writer) int {
	if file, ok := safetext.Raw(w).(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 0
}
