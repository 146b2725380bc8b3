package main

import (
	"fmt"
	"io"
	"strings"
)

// screen draws a text over the one before, in one write, so that nothing flickers.
type screen struct {
	out    io.Writer
	height func() int
	drawn  int // lines of the text before
}

// draw shows as many lines as there is room for. The terminal cuts long ones: a line that wraps would be two.
func (s *screen) draw(text string) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := max(s.height()-1, 1); len(lines) > most {
		lines = lines[:most]
	}
	var b strings.Builder
	b.WriteString("\x1b[?7l")
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", s.drawn)
	}
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J\x1b[?7h")
	s.drawn = len(lines)
	_, err := io.WriteString(s.out, b.String())
	return err
}
