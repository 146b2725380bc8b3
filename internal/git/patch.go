package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// plain are the options of a diff that say the same whatever a user's configuration asks for, and start no program that
// a repository names.
var plain = []string{"--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "-O/dev/null",
	"--ignore-submodules=none", "--submodule=short"}

// Patch is the change between two commits for a program to read: no context, no renames (a moved file is one deleted
// and one added), bytes as they are. It ends after so many bytes, in the middle of a line or not; whole is false then.
// What a repository's attributes call binary is named and not shown: read such a file with Read.
func (t *Tree) Patch(ctx context.Context, from, to string, most int) (patch string, whole bool, err error) {
	out := bounded{most: most}
	args := append([]string{"diff"}, plain...)
	args = append(args, "-U0", "--inter-hunk-context=0", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/",
		from, to, "--")
	if _, _, err := t.git.run(ctx, call{out: &out, args: args}); err != nil {
		return "", false, fmt.Errorf("comparing commits %.12s and %.12s: %w", from, to, err)
	}
	return out.kept.String(), out.lost == 0, nil
}

// Changed names every file that two commits have not alike, in content, mode or kind, in order. Of a moved file it
// names both places. The list is never cut.
func (t *Tree) Changed(ctx context.Context, from, to string) ([]string, error) {
	args := append([]string{"diff"}, plain...)
	out, err := t.git.out(ctx, append(args, "--name-only", "-z", from, to, "--")...)
	if err != nil {
		return nil, fmt.Errorf("naming what differs between commits %.12s and %.12s: %w", from, to, err)
	}
	return records(out), nil
}

// Read reads at most so many bytes of the beginning of a file as a commit has it; ok is false when it has none, or
// something that is not a regular file: a link, a directory, a submodule. What a commit holds never changes, so the
// same question is asked once.
func (t *Tree) Read(ctx context.Context, commit, path string, most int) (content []byte, ok bool, err error) {
	key := readKey{commit, path, most}
	if known, there := t.known.get(key); there {
		return slices.Clone(known.content), known.ok, nil
	}
	content, ok, err = t.read(ctx, commit, path, most)
	if err == nil && fullID.MatchString(commit) {
		t.known.put(key, readResult{slices.Clone(content), ok})
	}
	return content, ok, err
}

func (t *Tree) read(ctx context.Context, commit, path string, most int) (content []byte, ok bool, err error) {
	out, err := t.git.out(ctx, "ls-tree", "-z", "--full-tree", commit, "--", ":(literal)"+path)
	if err != nil {
		return nil, false, fmt.Errorf("looking for %s in commit %.12s: %w", path, commit, err)
	}
	for _, entry := range records(out) {
		about, name, _ := strings.Cut(entry, "\t")
		f := fields(about)
		if name != path || len(f) != 3 || f[0] != "100644" && f[0] != "100755" {
			continue
		}
		kept := bounded{most: most}
		if _, _, err := t.git.run(ctx, call{out: &kept, args: []string{"cat-file", "blob", f[2]}}); err != nil {
			return nil, false, fmt.Errorf("reading %s of commit %.12s: %w", path, commit, err)
		}
		return kept.kept.Bytes(), true, nil
	}
	return nil, false, nil
}
