package fake

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// checkRunInput is the body of a new check run and of a change to one. What is nil was not given.
type checkRunInput struct {
	Name        *string
	HeadSHA     *string `json:"head_sha"`
	ExternalID  *string `json:"external_id"`
	DetailsURL  *string `json:"details_url"`
	Status      *string
	Conclusion  *string
	StartedAt   *time.Time        `json:"started_at"`
	CompletedAt *time.Time        `json:"completed_at"`
	Output      *checkOutputInput `json:"output"`
	Actions     []struct {
		Label, Description, Identifier string
	}
}

type checkOutputInput struct {
	Title, Summary, Text *string
	Annotations          []annotationInput
	Images               []struct {
		Alt      string
		ImageURL string `json:"image_url"`
		Caption  string
	}
}

type annotationInput struct {
	Path        string
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn int    `json:"start_column"`
	EndColumn   int    `json:"end_column"`
	Level       string `json:"annotation_level"`
	Message     string
	Title       string
	RawDetails  string `json:"raw_details"`
}

// What GitHub takes in one call, and the words of a check run.
const (
	mostAnnotations = 50
	mostOutput      = 65535 // characters of a summary and of a text
)

var (
	checkStatuses    = []string{"queued", "in_progress", "completed"}
	checkConclusions = []string{"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"}
	annotationLevels = []string{"notice", "warning", "failure"}
)

// wantsChecksApp is the App that a token writes check runs for, with GitHub's refusal for people: only Apps may.
func wantsChecksApp(r *request) (*App, *answer) {
	switch {
	case r.token.app != nil:
		return r.token.app, nil
	case r.token.kind == Actions:
		return actionsApp, nil
	}
	a := failure(http.StatusForbidden, "You must authenticate via a GitHub App.")
	if r.token.permissions != nil {
		a = r.token.forbidden()
	}
	return nil, &a
}

func (g *GitHub) createCheckRun(r *request) answer {
	app, refused := wantsChecksApp(r)
	if refused != nil {
		return *refused
	}
	var in checkRunInput
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	switch {
	case in.Name == nil || *in.Name == "":
		return unprocessable(`Invalid request.` + "\n\n" + `"name" wasn't supplied.`)
	case in.HeadSHA == nil || *in.HeadSHA == "":
		return unprocessable(`Invalid request.` + "\n\n" + `"head_sha" wasn't supplied.`)
	case !isSHA(*in.HeadSHA) || !g.hasCommit(r.repo, *in.HeadSHA):
		return unprocessable("No commit found for SHA: " + *in.HeadSHA)
	}
	if bad := in.judge(); bad != nil {
		return *bad
	}
	c := g.checkRun(r.repo, app, *in.Name, *in.HeadSHA)
	g.fill(c, in)
	return created(g.checkRunShape(r.repo, c))
}

func (g *GitHub) editCheckRun(r *request) answer {
	app, refused := wantsChecksApp(r)
	if refused != nil {
		return *refused
	}
	c := r.repo.findCheckRun(r.number("id"))
	if c == nil {
		return notFound()
	}
	if c.app.ID != app.ID {
		return failure(http.StatusForbidden,
			fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", app.ID))
	}
	var in checkRunInput
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	if bad := in.judge(); bad != nil {
		return *bad
	}
	g.fill(c, in)
	return ok(g.checkRunShape(r.repo, c))
}

// judge is GitHub's refusal of what a check run cannot hold; nil when there is none.
func (in *checkRunInput) judge() *answer {
	var a answer
	switch {
	case in.Status != nil && !slices.Contains(checkStatuses, *in.Status):
		a = unprocessable(fmt.Sprintf("Invalid request.\n\nNo subschema in \"oneOf\" matched: %s is not a member of %q.",
			*in.Status, checkStatuses))
	case in.Conclusion != nil && !slices.Contains(checkConclusions, *in.Conclusion):
		a = unprocessable(fmt.Sprintf("Invalid request.\n\n%s is not a member of %q.", *in.Conclusion, checkConclusions))
	case in.Status != nil && *in.Status == "completed" && in.Conclusion == nil:
		a = unprocessable("Invalid request.\n\nMissing keys: conclusion.")
	case in.Output != nil:
		return in.Output.judge()
	default:
		return nil
	}
	return &a
}

func (out *checkOutputInput) judge() *answer {
	var a answer
	long := func(s *string) bool { return s != nil && utf8.RuneCountInString(*s) > mostOutput }
	switch {
	case out.Summary == nil:
		a = unprocessable("Invalid request.\n\n\"summary\" wasn't supplied.")
	case long(out.Summary):
		a = invalid("CheckRun", "summary", "custom", "summary exceeds a maximum bytesize of 65535")
	case long(out.Text):
		a = invalid("CheckRun", "text", "custom", "text exceeds a maximum bytesize of 65535")
	case len(out.Annotations) > mostAnnotations:
		a = unprocessable(fmt.Sprintf("Invalid request.\n\nNo more than %d items are allowed; %d were supplied.",
			mostAnnotations, len(out.Annotations)))
	case slices.ContainsFunc(out.Annotations, annotationInput.odd):
		a = invalid("CheckRun", "annotations", "invalid", "")
	default:
		return nil
	}
	return &a
}

// odd reports whether GitHub would refuse an annotation.
func (a annotationInput) odd() bool {
	columns := a.StartColumn != 0 || a.EndColumn != 0
	return a.Path == "" || a.Message == "" || a.StartLine < 1 || a.EndLine < a.StartLine ||
		!slices.Contains(annotationLevels, a.Level) ||
		len(a.Message) > 64<<10 || utf8.RuneCountInString(a.Title) > 255 || len(a.RawDetails) > 64<<10 ||
		(columns && a.StartLine != a.EndLine)
}

// fill puts what was given into a check run. Annotations are added to those that exist. Callers hold the lock.
func (g *GitHub) fill(c *checkRun, in checkRunInput) {
	for to, from := range map[*string]*string{
		&c.Name: in.Name, &c.ExternalID: in.ExternalID, &c.DetailsURL: in.DetailsURL, &c.Status: in.Status,
		&c.Conclusion: in.Conclusion,
	} {
		if from != nil {
			*to = *from
		}
	}
	if in.StartedAt != nil {
		c.StartedAt = in.StartedAt.UTC()
	}
	switch {
	case in.Conclusion != nil || in.CompletedAt != nil:
		c.Status, c.CompletedAt = "completed", g.time()
		if in.CompletedAt != nil {
			c.CompletedAt = in.CompletedAt.UTC()
		}
	case in.Status != nil: // a run that is begun again
		c.Conclusion, c.CompletedAt = "", time.Time{}
	}
	if out := in.Output; out != nil {
		c.Title, c.Summary, c.Text = value(out.Title), value(out.Summary), value(out.Text)
		for _, a := range out.Annotations {
			c.Annotations = append(c.Annotations, Annotation(a))
		}
	}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (g *GitHub) getCheckRun(r *request) answer {
	c := r.repo.findCheckRun(r.number("id"))
	if c == nil {
		return notFound()
	}
	return ok(g.checkRunShape(r.repo, c))
}

func (g *GitHub) listAnnotations(r *request) answer {
	c := r.repo.findCheckRun(r.number("id"))
	if c == nil {
		return notFound()
	}
	return page(g, r, c.Annotations, func(a Annotation) object { return g.annotationShape(r.repo, c, a) })
}

// listCheckRuns lists newest first; unless filter is all, only an App's newest run of each name.
func (g *GitHub) listCheckRuns(r *request) answer {
	sha := g.commitOf(r.repo, r.parts["ref"])
	if sha == "" {
		return unprocessable("No commit found for SHA: " + r.parts["ref"])
	}
	q, seen := r.query, map[string]bool{}
	var found []*checkRun
	for _, c := range slices.Backward(r.repo.checkRuns) {
		key := fmt.Sprint(c.app.ID, " ", c.Name)
		if c.HeadSHA != sha || (q.Get("filter") != "all" && seen[key]) {
			continue
		}
		seen[key] = true
		if (q.Get("check_name") == "" || q.Get("check_name") == c.Name) &&
			(q.Get("status") == "" || q.Get("status") == c.Status) &&
			(q.Get("app_id") == "" || q.Get("app_id") == strconv.FormatInt(c.app.ID, 10)) {
			found = append(found, c)
		}
	}
	return counted(page(g, r, found, func(c *checkRun) object { return g.checkRunShape(r.repo, c) }), "check_runs",
		len(found))
}

// commitOf is the commit that a branch, a tag or an id names; empty for none. Callers hold the lock.
func (g *GitHub) commitOf(r *repo, ref string) string {
	plain := ref
	for _, prefix := range []string{"heads/", "tags/"} {
		if len(plain) > len(prefix) && plain[:len(prefix)] == prefix {
			plain = "refs/" + plain
		}
	}
	return cmp.Or(g.branchSHA(r, ref),
		g.read(r, "rev-parse", "--verify", "--quiet", "--end-of-options", plain+"^{commit}"))
}
