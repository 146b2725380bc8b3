package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// snapshot is a commit that is made without a working tree or an index.
type snapshot struct {
	ref     string
	parent  string // "" makes a first commit
	keep    bool   // the parent's files stay; else the files are all there is
	files   map[string][]byte
	message string
}

// write makes the commit, and puts the ref on it, with one git process.
func (t *Tree) write(ctx context.Context, s snapshot) (commit string, err error) {
	if err := t.settle(); err != nil {
		return "", err
	}
	by, err := t.committer(ctx)
	if err != nil {
		return "", err
	}
	var in bytes.Buffer
	fmt.Fprintf(&in, "feature done\ncommit %s\nmark :1\ncommitter %s %d +0000\n", s.ref, by, time.Now().Unix())
	data(&in, []byte(s.message))
	if s.parent != "" {
		fmt.Fprintf(&in, "from %s\n", s.parent)
	}
	if !s.keep {
		in.WriteString("deleteall\n")
	}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		fmt.Fprintf(&in, "M 100644 inline %s\n", quoted(name))
		data(&in, s.files[name])
	}
	in.WriteString("\nget-mark :1\ndone\n")
	out, _, err := t.git.run(ctx, call{args: []string{"fast-import", "--quiet", "--force"}, in: &in})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(out), nil
}

func data(b *bytes.Buffer, content []byte) {
	fmt.Fprintf(b, "data %d\n", len(content))
	b.Write(content)
	b.WriteByte('\n')
}

// committer is who commits, as git writes it: "Name <email>".
func (t *Tree) committer(ctx context.Context) (string, error) {
	if t.by != "" {
		return t.by, nil
	}
	out, err := t.git.out(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return "", fmt.Errorf("asking git who commits: %w", err)
	}
	end := strings.LastIndexByte(out, '>')
	t.by = out[:end+1]
	return t.by, nil
}
