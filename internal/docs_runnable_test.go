package internal_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// runnable are the blocks of a page that are marked as such, each with what is shown of its output, if that follows.
var runnable = regexp.MustCompile("(?ms)^```sh runnable\n(.*?)^```\n(?:\n```text shown\n(.*?)^```$)?")

// TestRunnableBlocks runs the runnable blocks of each page in order, as a new user: in an empty directory, with an empty
// home, without an author for git, in the sandbox that ralph chooses here. The output has what the page shows of it.
func TestRunnableBlocks(t *testing.T) {
	program, err := build()
	noError(t, err)
	var pages int
	for _, file := range documents {
		blocks := runnable.FindAllStringSubmatch(document(t, file), -1)
		if marked := strings.Count(document(t, file), "\n```sh runnable\n"); marked != len(blocks) {
			t.Errorf("%s: %d blocks are read, of %d", file, len(blocks), marked)
		}
		if len(blocks) == 0 {
			continue
		}
		pages++
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			runBlocks(t, program, blocks)
		})
	}
	if pages < 5 {
		t.Errorf("%d pages have blocks that are run", pages)
	}
}

// runBlocks runs blocks in one shell, so that what one sets the next one has, and holds the output of each against what
// is shown of it.
func runBlocks(t *testing.T, program string, blocks [][]string) {
	home, empty := t.TempDir(), t.TempDir()
	script := "set -e\n"
	for _, block := range blocks {
		script += block[1] + "echo '" + betweenBlocks + "'\n"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", script) //nolint:gosec // our own documents
	shell.Dir = filepath.Join(empty, "here")
	noError(t, os.Mkdir(shell.Dir, 0o700))
	shell.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1"}
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, said := range strings.Split(string(out), betweenBlocks+"\n")[:len(blocks)] {
		for line := range strings.Lines(blocks[i][2]) {
			if !strings.Contains(said, strings.TrimSpace(line)) {
				t.Errorf("block %d does not print %q, but\n%s", i+1, line, said)
			}
		}
	}
}

// betweenBlocks parts the output of one block from that of the next.
const betweenBlocks = "-- the next block --"
