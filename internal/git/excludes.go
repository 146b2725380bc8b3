package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// runtimeFiles are ralph's own files in a working tree, which no commit of the work takes up.
const runtimeFiles = `# ralph
**/.ralph/runs/
**/.ralph/guardrail_*.log
**/.ralph/verify_*.log
**/.ralph/prompt_*.txt
**/.ralph/settings.local.json
**/.ralph/supervise/
**/.ralph/children/
**/.ralph/bus.jsonl
**/.ralph/summary.md
**/.venv-ralph/
.ralph_state.md
.ralph.lock
.ralph-active
`

// manyFiles is how many of the user's untracked files are kept out one by one. With more, their directories are: git
// compares every path with every pattern.
const manyFiles = 2000

// writeExcludes writes the run's list of files that are not its own: the user's own patterns for all repositories and
// for this one, ralph's files and what lay in the tree, untracked, when the run began. A run that is resumed within a
// turn keeps the list of its beginning, since by now the agent's files lie there too. The harness has a list of its
// own, the agent's git reads another.
func (t *Tree) writeExcludes(ctx context.Context) error {
	if err := excludeRuntimeFiles(t.common()); err != nil {
		return err
	}
	own := filepath.Join(t.dir, listFile)
	if t.o.unsettled() {
		for _, name := range []string{own, t.excludes()} { // the second if ralph's repository had to be made again
			if text, err := os.ReadFile(name); err == nil {
				return t.useExcludes(text)
			}
		}
	}
	var b strings.Builder
	b.Write(t.userExcludes(ctx))
	b.WriteString("\n")
	local, err := readText(filepath.Join(t.user.common, "info", "exclude"))
	if err != nil {
		return fmt.Errorf("reading the clone's list of excluded files: %w", err)
	}
	b.Write(local.text)
	b.WriteString("\n" + runtimeFiles)
	if err := t.useExcludes([]byte(b.String())); err != nil { // what they hide needs no line of its own
		return err
	}
	names, err := t.untracked(ctx)
	if err == nil && len(names) > manyFiles {
		var short []string
		if short, err = t.untracked(ctx, "--directory"); !slices.ContainsFunc(short, t.holdsOwn) {
			names = short
		}
	}
	if err != nil {
		return fmt.Errorf("listing untracked files: %w", err)
	}
	for _, name := range names {
		if !t.owns(name) {
			b.WriteString(pattern(name) + "\n")
		}
	}
	return t.useExcludes([]byte(b.String()))
}

// listFile is the harness's list of excluded files, in its repository.
const listFile = "info/exclude"

func (t *Tree) useExcludes(list []byte) error {
	if err := t.writeOwn(listFile, list); err != nil {
		return err
	}
	if err := replace(t.excludes(), list, 0o644); err != nil {
		return fmt.Errorf("writing the run's list of excluded files: %w", err)
	}
	return nil
}

// keptFile names what keep has found, in the run's state.
const keptFile = "kept"

// maxKept bounds, in bytes, the names that a command line takes.
const maxKept = 64 << 10

// keep finds the user's untracked files that the list does not hide, since a .gitignore of the tree takes them back in
// ("!settings.json"). They are left out of every command by name. A run that is resumed within a turn keeps what was
// found at its beginning.
func (t *Tree) keep(ctx context.Context) error {
	for _, dir := range []string{t.dir, t.state} { // the second if ralph's repository had to be made again
		if text, err := os.ReadFile(filepath.Join(dir, keptFile)); err == nil && t.o.unsettled() {
			t.kept = records(string(text))
			return nil
		}
	}
	names, err := t.untracked(ctx)
	if err != nil {
		return fmt.Errorf("listing untracked files: %w", err)
	}
	return t.writeKept(names)
}

func (t *Tree) writeKept(names []string) error {
	if err := replace(filepath.Join(t.dir, keptFile), []byte(strings.Join(names, "\x00")), 0o644); err != nil {
		return fmt.Errorf("writing the run's list of kept files: %w", err)
	}
	t.kept = names
	return nil
}

// clean removes what is neither tracked nor ignored nor the user's: everywhere, or in a path.
func (t *Tree) clean(ctx context.Context, in ...string) error {
	args, size := []string{"clean", "-ffdq"}, 0
	for _, name := range t.kept {
		args = append(args, "-e", pattern(name))
		size += len(name)
	}
	if size > maxKept {
		return fmt.Errorf("%d untracked files are the user's; nothing is removed", len(t.kept))
	}
	args = append(args, "--")
	for _, name := range in {
		args = append(args, ":(top,literal)"+name)
	}
	_, err := t.git.out(ctx, args...)
	return err
}

// untracked lists files that are neither tracked nor ignored nor kept. A repository in the tree is one entry that ends
// with a slash.
func (t *Tree) untracked(ctx context.Context, options ...string) ([]string, error) {
	out, err := t.git.out(ctx, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, options...)...)
	names := records(out)
	if len(t.kept) > 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(t.kept, name) })
	}
	return names, err
}

// userExcludes are the user's own patterns for all repositories; ours take that file's place.
func (t *Tree) userExcludes(ctx context.Context) []byte {
	d := door{dir: t.work, env: usersEnvironment(t.o.Env)}
	out, err := d.out(ctx, "config", "--path", "--get", "core.excludesFile")
	path := strings.TrimSuffix(out, "\n")
	if err != nil || path == "" {
		path = filepath.Join(t.xdgConfig(), "git", "ignore")
	}
	text, _ := os.ReadFile(path) // git, too, passes over one that it cannot read
	return text
}

// pattern matches one path and nothing else.
func pattern(name string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := range len(name) {
		switch c := name[i]; c {
		case '*', '?', '[', '\\', ' ', '\t', '#', '!':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n', '\r': // no pattern can hold them
			b.WriteByte('?')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func value(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
