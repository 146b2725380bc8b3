package local

import (
	"io"
	"os"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// mostPrompt bounds a prompt file, in bytes: no agent takes more, and whoever names a disk image has named the wrong
// file.
const mostPrompt = 16 << 20

// readPrompt reads the file of --prompt-file. It is read before every iteration, so it must be one that can be read
// twice: a pipe, such as a shell's <(…), would leave the second iteration waiting for ever.
func readPrompt(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", invalid.Errorf("flag --prompt-file: %w; give a file that says what to do", err)
	case !info.Mode().IsRegular():
		return "", invalid.Errorf(
			"flag --prompt-file: %s is not a regular file, and it is read again before every iteration; write what to do into "+
				"a file, or say it with --prompt TEXT",
			name,
		)
	case info.Size() > mostPrompt:
		return "", invalid.Errorf(
			"invalid --prompt-file %q: %d bytes, must be at most %d", name, info.Size(), mostPrompt,
		)
	}
	file, err := os.Open(name) // the user names it
	if err != nil {
		return "", invalid.Errorf("flag --prompt-file: %w; give a file that you may read", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostPrompt))
	if err != nil {
		return "", invalid.Errorf("flag --prompt-file: %w; give a file that says what to do", err)
	}
	return string(text), nil
}
