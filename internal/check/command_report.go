package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
)

// What is read of a command's reports.
const (
	maxReports     = 500
	maxReportBytes = 8 << 20  // of one
	maxReportsRead = 32 << 20 // of all
)

// reports finds the files that Report names as they are now. Only a plain file counts, and only in the worktree: the
// agent may have put anything there.
func (c *Command) reports() (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	if c.Expect.Report == "" {
		return found, nil
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("looking for the report %s: %w", c.Expect.Report, err)
	}
	defer func() { _ = root.Close() }()
	names, err := fs.Glob(root.FS(), path.Clean(filepath.ToSlash(c.Expect.Report)))
	if err != nil {
		return nil, fmt.Errorf("looking for the report %q of the check %s: %w; write a path, or a pattern like build/*.xml",
			c.Expect.Report, c.Title, err)
	}
	for _, name := range names[:min(len(names), maxReports)] {
		if info, err := root.Lstat(name); err == nil {
			found[name] = info
		}
	}
	return found, nil
}

func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// take adds one report.
func (r *report) take(name string, content []byte) {
	said, ok := failure.Report(content)
	if !ok {
		r.bad = fmt.Sprintf("its report %s is neither JUnit XML nor SARIF, or is broken off", name)
		return
	}
	for _, f := range said.Findings {
		if failure.IsFailure(f) {
			r.failures++
			r.worst = cmp.Or(r.worst, &f)
		}
	}
	r.findings = append(r.findings, said.Findings[:min(len(said.Findings), loop.MaxFindings-len(r.findings))]...)
	r.names = joined(r.names, said.Names)
	tests := said.Tests
	if r.tests.Known && tests.Known {
		tests.Ran, tests.Skipped, tests.Failed = tests.Ran+r.tests.Ran, tests.Skipped+r.tests.Skipped,
			tests.Failed+r.tests.Failed
	}
	if tests.Known {
		r.tests = tests
	}
}

// joined are the tests that either of two reports names.
func joined(a, b *loop.TestNames) *loop.TestNames {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	all := &loop.TestNames{
		Passed: append(a.Passed, b.Passed...), Failed: append(a.Failed, b.Failed...),
		Skipped: append(a.Skipped, b.Skipped...),
	}
	if all.Cut = a.Cut || b.Cut || len(all.Passed)+len(all.Failed)+len(all.Skipped) > loop.MaxTestNames; all.Cut {
		return &loop.TestNames{Cut: true}
	}
	return all
}

// more is the source that knows more tests: an output and a report count the same ones.
func more(output, report failure.Tests) failure.Tests {
	switch {
	case !report.Known:
		return output
	case !output.Known, report.Ran > output.Ran, report.Ran == output.Ran && report.Ran > 0:
		return report
	}
	return output
}
