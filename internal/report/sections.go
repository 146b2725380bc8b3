package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Sections are the parts of a run's report in Markdown, each "" where there is nothing to say, for a page that arranges
// them itself. What others wrote is inert in them.
type Sections struct {
	Subject, Lead, Now, Footer string
	AtCap, Silent, Look        string
	Failure, Reproduce         string
	Stories, Verification      string
	Asked, Checks, History     string
	Posted                     string // the failure report of a run that a limit stopped
}

// SectionsOf are the parts of a run's report.
func SectionsOf(v View) Sections {
	r := rooms[0]
	return Sections{
		Subject: v.Text(v.State.Start.Title, 200), Lead: v.details(), Now: v.whatNow(), Footer: v.footer(),
		AtCap: v.atCap(r), Silent: v.silent(), Look: v.warned(r) + v.riskiest(r.files),
		Failure: v.failureInFull(r), Reproduce: v.reproduction(),
		Stories: v.storyList(r), Verification: v.verification(r.rows),
		Asked:   wording.JoinedBy("\n", v.title(), v.wording(r)),
		Checks:  wording.JoinedBy("\n\n", v.checkList(r.checks), v.baseline()),
		History: v.errorHistory(r.history), Posted: v.posted(),
	}
}

// failureInFull is the last failure with the places that it names and all that is kept of its output.
func (v View) failureInFull(r room) string {
	f := v.State.Failure()
	if f == nil {
		return ""
	}
	var p wording.Markdown
	p.Part(fmt.Sprintf("%s: %s", v.Code(f.Check, 80), cmp.Or(wording.Sentence(v.Text(f.Reason, 400)), "it failed.")))
	p.Part(v.findings(r))
	if strings.TrimSpace(f.Output) != "" {
		p.Part(v.Fence(f.Output, r.lines))
	}
	p.Part(v.turnEnd(v.Judged()))
	return p.String()
}

func (v View) reproduction() string {
	if !v.stoppedShort() {
		return ""
	}
	return safetext.Fence(v.reproduce())
}

func (v View) posted() string {
	if !v.stoppedShort() {
		return ""
	}
	return Failure(v)
}
