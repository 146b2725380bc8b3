package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// WriteReports writes the reports of a run as files and returns the page's path: report.html with everything, report.md
// with the summary, and for a run that a limit stopped failure.md. An empty dir writes nothing. top is the worktree
// when dir is in one.
func WriteReports(top, dir string, d html.Detail) (string, error) {
	if dir == "" {
		return "", nil
	}
	root, err := runDir{top, dir}.open()
	if err != nil {
		return "", fmt.Errorf("making the report's directory: %w", err)
	}
	defer root.Close()
	write := func(name string, content []byte) error { return files.Write(root, name, content, 0o644) }
	err = write("report.md", []byte(report.Summary(d.View)))
	if end := d.State.End; end != nil && end.Outcome.Limited() {
		err = errors.Join(err, write("failure.md", []byte(report.Failure(d.View))))
	}
	page, perr := html.Report(d)
	if perr != nil {
		return filepath.Join(dir, "report.md"), errors.Join(err, perr)
	}
	return filepath.Join(dir, "report.html"), errors.Join(err, write("report.html", page))
}

// What the report's page holds of diffs: the newest iterations come first, and what does not fit is said there.
const (
	pageDiffs = 2 << 20 // bytes of all together
	diffTime  = 10 * time.Second
	// diffSlack is read beyond what is shown of a diff.
	diffSlack = 8 << 10
)

// Detail is a run in full: what its journal tells, and what its commits changed. Without the journal's text, or without
// commits, it has what the state knows.
func (spec *Spec) Detail(ctx context.Context, v report.View, raw []byte) html.Detail {
	records, _, err := journal.Read(bytes.NewReader(raw))
	if err != nil { // ralph wrote it, so this is a mistake of ralph; the report lacks details
		spec.Log("reading the journal for the report: %v", err)
	}
	d := html.Detail{View: v, Records: records}
	if spec.Copies != nil {
		ctx, cancel := context.WithTimeout(ctx, diffTime)
		defer cancel()
		d.Diffs = spec.diffs(ctx, stepsOf(v.State))
	}
	return d
}

// step is where an iteration's commit came from.
type step struct {
	n        int
	from, to string
}

// stepsOf are the iterations that changed something, oldest first. What the harness corrected in between is no part of
// any.
func stepsOf(s loop.State) (steps []step) {
	for _, it := range s.Iterations {
		if c := it.Commit; c != nil && c.SHA != "" && c.SHA != it.Since && it.Since != "" && !c.Unchecked {
			steps = append(steps, step{it.N, it.Since, c.SHA})
		}
	}
	return steps
}

// diffs are what the iterations changed, the newest first for as long as there is room and time.
func (spec *Spec) diffs(ctx context.Context, steps []step) map[int]html.Diff {
	diffs := map[int]html.Diff{}
	left := pageDiffs
	for _, s := range slices.Backward(steps) {
		if ctx.Err() != nil || left < html.DiffBytes {
			diffs[s.n] = html.Diff{Note: "The diff is left out: there was no time or room left for it; the commit has it."}
			continue
		}
		diffs[s.n] = spec.diff(ctx, s)
		left -= len(diffs[s.n].Text)
	}
	return diffs
}

// diff is what one step has changed, without secrets and cut to what a page shows of it.
func (spec *Spec) diff(ctx context.Context, s step) html.Diff {
	text, err := spec.Copies.Diff(ctx, s.from, s.to, html.DiffBytes+diffSlack)
	if err != nil {
		return html.Diff{Note: "The diff cannot be shown: " + spec.Redact(err.Error())}
	}
	whole := len(text) <= html.DiffBytes
	if text = html.WithoutSecrets(text, spec.Redact); whole {
		return html.Diff{Text: safetext.FirstBytes(text, html.DiffBytes)}
	}
	most := max(min(html.DiffBytes, len(text)-diffSlack), 0) // a secret may be cut in two at the end of what was read
	text = text[:strings.LastIndexByte(text[:most], '\n')+1]
	return html.Diff{Text: text, Note: "The diff is cut here; the commit has all of it."}
}

// unreached says which of the hosts that the sandbox has refused a command that failed could not speak to; "" when its
// output names none.
func unreached(refused []string, command, output string) string {
	for _, host := range refused {
		name, _, _ := strings.Cut(host, ":")
		if names(output, name) {
			return fmt.Sprintf("%s could not reach %s from the sandbox: add it to the setting sandboxNetwork",
				detect.MissingTool(command, ""), host)
		}
	}
	return ""
}

// names reports whether a text has a name, not as a part of a longer one.
func names(text, name string) bool {
	whole, err := regexp.MatchString(`(^|[^A-Za-z0-9._-])`+regexp.QuoteMeta(name)+`(\.?($|\s)|[^A-Za-z0-9._-])`, text)
	return err == nil && name != "" && whole
}

// wantUserns are words of tools that could not make a namespace of users.
var wantUserns = []string{"No usable sandbox", "new namespace", "user namespace", "CLONE_NEWUSER", "unshare failed", "cannot clone"}

// explainUnreached adds to a failed verdict that a host could not be reached, or what else the sandbox has closed.
func (run *Run) explainUnreached(v *loop.Verdict) bool {
	why := unreached(run.boxes.sandbox.Refused(sandbox.Checks), run.line(v.Check), v.Output)
	if why == "" && run.Boxed() && !run.Settings.SandboxUserns &&
		slices.ContainsFunc(wantUserns, func(words string) bool { return strings.Contains(v.Output, words) }) {
		why = "it may need user namespaces, which the sandbox closes: set sandboxUserns to true"
	}
	if covered := run.boxes.sandbox.Covers(v.Output); why == "" && covered != "" {
		why = "it may need " + covered + ", which the sandbox hides: name what it needs in the setting sandboxWritable"
	}
	if why != "" {
		v.Reason += "; " + why
	}
	return why != ""
}

// checkDirectory is the directory of a run of a prompt as its checks see it.
type checkDirectory struct {
	Directory
	run *Run
}

// Prepare implements check.Tree: the directory is as the turn has left it, and nothing else is there of earlier checks.
func (d checkDirectory) Prepare(_ context.Context, _ check.Input, fresh bool) (v *loop.Verdict, err error) {
	if fresh {
		_, err = d.run.boxes.sandbox.FreshHome()
	}
	return nil, err
}

// Explain implements check.Tree.
func (d checkDirectory) Explain(_ context.Context, _ check.Input, v *loop.Verdict) error {
	d.run.explainUnreached(v)
	return nil
}
