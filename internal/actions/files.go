package actions

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// What the runner takes. It drops a summary above 1 MiB as a whole, so ours stays below it.
const (
	summaryBytes = 1<<20 - 1<<10
	outputBytes  = 16 << 10
)

var outputName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z_]*$`) })

// SetOutputs sets the step's outputs. Values are enums, numbers, names and addresses: one with a line break or a
// control character, or longer than 16 KiB, is refused, and then none is set. Outside of a runner nothing happens.
func (r *Runner) SetOutputs(outputs map[string]string) error {
	var b strings.Builder
	delimiter := "ralph-" + rand.Text() // a fixed one could be forged by a value
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if err := checkOutput(name, outputs[name]); err != nil {
			return fmt.Errorf("setting output %s: %w", name, err)
		}
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", name, delimiter, outputs[name], delimiter)
	}
	if r.output == "" || b.Len() == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := appendTo(r.output, b.String()); err != nil {
		return fmt.Errorf("setting outputs: %w", err)
	}
	return nil
}

func checkOutput(name, value string) error {
	switch {
	case !outputName().MatchString(name):
		return errors.New("a name is small letters and underscores")
	case len(value) > outputBytes:
		return fmt.Errorf("the value has %d bytes; at most %d are allowed", len(value), outputBytes)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, breaksLine):
		return errors.New("the value has a line break or a control character")
	}
	return nil
}

func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// Summary appends markdown to the job's summary. What does not fit is cut at a line's end, and the summary says so. A
// summary that cannot be written is a warning, not the end of a run. Outside of a runner nothing happens.
func (r *Runner) Summary(markdown string) {
	if r.summary == "" || markdown == "" {
		return
	}
	if err := r.summarize(markdown); err != nil {
		r.Warning(fmt.Sprintf("writing the job summary: %v", err))
	}
}

func (r *Runner) summarize(markdown string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	used := int64(0)
	if info, err := os.Stat(r.summary); err == nil {
		used = info.Size()
	}
	text := fit(strings.TrimRight(markdown, "\n")+"\n", summaryBytes-int(used))
	return appendTo(r.summary, text)
}

// cutNote ends a summary that did not fit. The blank line before it closes a list or table; an open fence or <details>
// stays open.
const cutNote = "\n\n_The summary ends here: GitHub takes no more than 1 MiB._\n"

// fit cuts text to a number of bytes, note included; it is empty when not even that fits.
func fit(text string, room int) string {
	if len(text) <= room {
		return text
	}
	if room -= len(cutNote); room <= 0 {
		return ""
	}
	text = text[:room]
	if end := strings.LastIndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return strings.ToValidUTF8(text, "") + cutNote
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
