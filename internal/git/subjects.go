package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Subjects are those of the newest commits up to one, merges left out, at most so many, newest first.
func (t *Tree) Subjects(ctx context.Context, commit string, most int) ([]string, error) {
	out, err := t.git.out(ctx, "log", "-z", "--no-merges", "--format=%s", "-n", strconv.Itoa(most), "--end-of-options",
		commit)
	if err != nil {
		return nil, fmt.Errorf("reading the newest commits of %.12s: %w", commit, err)
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}
