package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/failure"
	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
)

// What is read of a command's reports.
const (
	maxReports     = 500
	maxReportBytes = 8 << 20  // of one
	maxReportsRead = 32 << 20 // of all
)

// report is what the reports of a run say together.
type report struct {
	files    int    // written by this run
	bad      string // why one cannot be read
	findings []loop.Finding
	worst    *loop.Finding // the first that is no mere warning
	failures int
	tests    failure.Tests
	names    *loop.TestNames
}

// reports finds the files that Report names as they are now. Only a plain file counts, and only in the worktree: the
// agent may have put anything there.
func (c *Command) reports() (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	if c.Report == "" {
		return found, nil
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("looking for the report %s: %w", c.Report, err)
	}
	defer func() { _ = root.Close() }()
	names, err := fs.Glob(root.FS(), path.Clean(filepath.ToSlash(c.Report)))
	if err != nil {
		return nil, fmt.Errorf("looking for the report %q of the check %s: %w; write a path, or a pattern like build/*.xml",
			c.Report, c.Title, err)
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

// redactedNames are names of tests without secrets.
func (c *Command) redactedNames(n *loop.TestNames) *loop.TestNames {
	if n == nil || c.Redact == nil {
		return n
	}
	clean := *n
	for _, list := range []*[]string{&clean.Passed, &clean.Failed, &clean.Skipped} {
		if len(*list) > 0 {
			*list = strings.Split(c.Redact(strings.Join(*list, "\n")), "\n")
		}
	}
	return &clean
}

// more is what is told by whom knows of more tests: an output and a report speak of the same ones.
func more(output, report failure.Tests) failure.Tests {
	switch {
	case !report.Known:
		return output
	case !output.Known, report.Ran > output.Ran, report.Ran == output.Ran && report.Ran > 0:
		return report
	}
	return output
}

// findings are those of the report, which says them better, or else those of the output.
func (o ending) findings(check string, said failure.Output) []loop.Finding {
	found := o.report.findings
	if len(found) == 0 {
		found = said.Findings(check)
	}
	return found[:min(len(found), loop.MaxFindings)]
}

// fromTop names the files of findings from the top of the worktree. A command that works below it names them from
// there.
func (c *Command) fromTop(found []loop.Finding) []loop.Finding {
	if c.Below == "" {
		return found
	}
	out := slices.Clone(found)
	for i, f := range out {
		if f.File != "" && !path.IsAbs(f.File) && !filepath.IsAbs(f.File) {
			out[i].File = path.Join(c.Below, filepath.ToSlash(f.File))
		}
	}
	return out
}

// mostNamed is how many files are read that an output names.
const mostNamed = 100

// source are the lines of the files that an output names, trimmed: a tool that shows some of them says no more by that.
func (c *Command) source(output string) map[string]bool {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	lines, tried := map[string]bool{}, map[string]bool{}
	for _, word := range strings.FieldsFunc(output, func(r rune) bool { return strings.ContainsRune(" \t\r\n:()[]{}<>'\"`,;|", r) }) {
		word = strings.TrimPrefix(strings.TrimRight(word, "."), c.Dir+"/")
		if !strings.ContainsAny(word, "./") || tried[word] || len(tried) == mostNamed {
			continue
		}
		tried[word] = true
		if info, err := root.Lstat(filepath.FromSlash(word)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, _ := disk.ReadIn(root, filepath.FromSlash(word), clippedBytes<<8)
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" {
				lines[line] = true
			}
		}
	}
	return lines
}
