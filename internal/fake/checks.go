package fake

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// checksApp is the App that a token writes check runs for. People are refused: only Apps may.
func checksApp(r *request) *App {
	switch {
	case r.token.app != nil:
		return r.token.app
	case r.token.Kind == Actions:
		return actionsApp
	case r.token.Permissions != nil:
		panic(r.token.forbidden())
	}
	panic(failure(http.StatusForbidden, "You must authenticate via a GitHub App."))
}

func (g *GitHub) createCheckRun(r *request) answer {
	app := checksApp(r)
	c := g.fill(r, CheckRun{Status: "queued"})
	if !isSHA(c.HeadSHA) || !g.hasCommit(r.repo, c.HeadSHA) {
		return unprocessable("No commit found for SHA: " + c.HeadSHA)
	}
	return created(g.checkRunShape(r.repo, g.checkRun(r.repo, app, c)))
}

func (g *GitHub) editCheckRun(r *request) answer {
	app, c := checksApp(r), found(r.repo.findCheckRun(r.number("id")))
	if c.app.ID != app.ID {
		return failure(http.StatusForbidden,
			fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", app.ID))
	}
	c.CheckRun = g.fill(r, c.CheckRun)
	return ok(g.checkRunShape(r.repo, c))
}

// odd reports whether GitHub would refuse an annotation that its description allows.
func (a Annotation) odd() bool {
	return a.StartLine < 1 || a.EndLine < a.StartLine || len(a.Message) > 64<<10 || len(a.RawDetails) > 64<<10 ||
		utf8.RuneCountInString(a.Title) > 255
}

// fill is a check run with what a request gives. Annotations are added to those that exist. Callers hold the lock.
func (g *GitHub) fill(r *request, was CheckRun) CheckRun {
	in := struct {
		CheckRun
		Output *struct {
			Title, Summary, Text string
			Annotations          []Annotation
		}
		Actions any
	}{CheckRun: was}
	in.Status, in.Conclusion, in.CompletedAt = "", "", time.Time{}
	r.decode(&in)
	c := in.CheckRun
	switch {
	case c.Conclusion != "" || !c.CompletedAt.IsZero():
		c.Status, c.CompletedAt = "completed", g.time()
	case c.Status == "": // otherwise a run is begun again
		c.Status, c.Conclusion, c.CompletedAt = was.Status, was.Conclusion, was.CompletedAt
	}
	if out := in.Output; out != nil {
		if slices.ContainsFunc(out.Annotations, Annotation.odd) {
			panic(invalid("CheckRun", "annotations", "invalid", ""))
		}
		c.Title, c.Summary, c.Text = out.Title, out.Summary, out.Text
		c.Annotations = append(c.Annotations, out.Annotations...)
	}
	return c
}

func (g *GitHub) getCheckRun(r *request) answer {
	c := found(r.repo.findCheckRun(r.number("id")))
	return ok(g.checkRunShape(r.repo, c))
}

func (g *GitHub) listAnnotations(r *request) answer {
	c := found(r.repo.findCheckRun(r.number("id")))
	return page(g, r, c.Annotations, annotationShape)
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
		if q.Get("check_name") == "" || q.Get("check_name") == c.Name {
			found = append(found, c)
		}
	}
	return counted(page(g, r, found, func(c *checkRun) object { return g.checkRunShape(r.repo, c) }), "check_runs",
		len(found))
}

// commitOf is the commit that a branch, a tag or an id names; empty for none. Callers hold the lock.
func (g *GitHub) commitOf(r *repo, ref string) string {
	return cmp.Or(g.branchSHA(r, ref), g.read(r, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}"))
}

// CheckRun is one check run on a commit, as requests give it.
type CheckRun struct {
	ID          int64 `json:"-"` // reading only
	Name        string
	HeadSHA     string    `json:"head_sha"`
	App         string    `json:"-"` // the slug of the App that wrote it; github-actions when it is not given
	ExternalID  string    `json:"external_id"`
	DetailsURL  string    `json:"details_url"`
	Status      string    // queued, in_progress or completed; completed when there is a Conclusion, else in_progress
	Conclusion  string    // empty until it is completed
	StartedAt   time.Time `json:"started_at"`
	CompletedAt time.Time `json:"completed_at"` // zero until it is completed

	Title       string       `json:"-"`
	Summary     string       `json:"-"`
	Text        string       `json:"-"`
	Annotations []Annotation `json:"-"`
}

// Annotation is a check run's remark on lines of a file.
type Annotation struct {
	Path        string
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn int    `json:"start_column"` // 0, with EndColumn, for the whole lines
	EndColumn   int    `json:"end_column"`
	Level       string `json:"annotation_level"` // notice, warning or failure
	Message     string
	Title       string
	RawDetails  string `json:"raw_details"`
}

type checkRun struct {
	CheckRun
	app   *App
	suite *suite
}

// suite is what an App found out about one commit.
type suite struct {
	id     int64
	app    *App
	sha    string
	branch string
}

// actionsApp is the App behind GITHUB_TOKEN, with its true number.
var actionsApp = &App{ID: 15368, Slug: "github-actions", Owner: "github"}

func (r *repo) findCheckRun(id int64) *checkRun {
	return first(r.checkRuns, func(c *checkRun) bool { return c.ID == id })
}

// checkRun adds a run of an App, in the App's suite of the commit. Callers hold the lock.
func (g *GitHub) checkRun(r *repo, app *App, c CheckRun) *checkRun {
	s := g.suite(r, app, c.HeadSHA)
	c.ID, c.App, c.StartedAt = g.id(), app.Slug, cmp.Or(c.StartedAt, g.time())
	if c.Conclusion != "" {
		c.Status, c.CompletedAt = "completed", cmp.Or(c.CompletedAt, g.time())
	}
	c.Status = cmp.Or(c.Status, "in_progress")
	added := &checkRun{CheckRun: c, app: app, suite: s}
	r.checkRuns = append(r.checkRuns, added)
	return added
}

func (g *GitHub) suite(r *repo, app *App, sha string) *suite {
	s := first(r.suites, func(s *suite) bool { return s.app.ID == app.ID && s.sha == sha })
	if s != nil {
		return s
	}
	s = &suite{id: g.id(), app: app, sha: sha, branch: g.branchAt(r, sha)}
	r.suites = append(r.suites, s)
	return s
}

// branchAt is a branch whose head is a commit, or empty. Callers hold the lock.
func (g *GitHub) branchAt(r *repo, sha string) string {
	name, _, _ := strings.Cut(g.read(r, "for-each-ref", "--format=%(refname:lstrip=2)", "--points-at="+sha, "refs/heads"),
		"\n")
	return name
}

// appOf is the App of a slug, which need not be registered. Callers hold the lock.
func (g *GitHub) appOf(slug string) *App {
	if slug == "" || slug == actionsApp.Slug {
		return actionsApp
	}
	return &App{ID: g.id(), Slug: slug, Owner: slug}
}

// AddCheckRun puts a check run on a commit, as CI would, and returns its id. One of github-actions is the job of a
// workflow run too: a log can be given to it (SetJobLog).
func (g *GitHub) AddCheckRun(owner, name string, c CheckRun) int64 {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	added := g.checkRun(r, g.appOf(c.App), c)
	if added.app == actionsApp {
		g.jobOf(r, added)
	}
	return added.ID
}

// CheckRuns reads the check runs on a commit, oldest first.
func (g *GitHub) CheckRuns(owner, name, sha string) []CheckRun {
	defer g.lock()()
	on := those(g.mustRepo(owner, name).checkRuns, func(c *checkRun) bool { return c.HeadSHA == sha })
	return each(on, func(c *checkRun) CheckRun { return c.CheckRun })
}

func (g *GitHub) getCheckSuite(r *request) answer {
	return ok(g.suiteShape(r.repo, found(first(r.repo.suites, func(s *suite) bool { return s.id == r.number("id") }))))
}

// bot is the login that an App writes as.
func (a *App) bot() string { return a.Slug + "[bot]" }

func (g *GitHub) suiteShape(r *repo, s *suite) object {
	status, conclusion := s.state(r)
	return object{"id": s.id, "head_branch": text(s.branch), "head_sha": s.sha, "status": status,
		"conclusion": text(conclusion), "app": g.appShape(s.app), "updated_at": stamp(g.time())}
}

// state is what a suite's newest run of each name comes to.
func (s *suite) state(r *repo) (status, conclusion string) {
	newest := map[string]*checkRun{}
	for _, c := range r.checkRuns {
		if c.suite == s {
			newest[c.Name] = c
		}
	}
	conclusion = "success"
	for _, c := range newest {
		switch c.Conclusion {
		case "":
			return "in_progress", ""
		case "success", "neutral", "skipped":
		default:
			conclusion = "failure"
		}
	}
	return "completed", conclusion
}

// Status is one commit status, as requests give it.
type Status struct {
	Context     string // default when it is not given
	State       string // error, failure, pending or success
	Description string
	TargetURL   string `json:"target_url"`
	Creator     string `json:"-"`
}

type status struct {
	Status
	id  int64
	sha string
}

// AddStatus sets a status on a commit, as CI would.
func (g *GitHub) AddStatus(owner, name, sha string, s Status) {
	defer g.lock()()
	g.status(g.mustRepo(owner, name), sha, s)
}

func (g *GitHub) status(r *repo, sha string, s Status) *status {
	s.Context, s.Creator = cmp.Or(s.Context, "default"), cmp.Or(s.Creator, r.owner)
	g.user(s.Creator)
	added := &status{Status: s, id: g.id(), sha: sha}
	r.statuses = append(r.statuses, added)
	return added
}

// Statuses reads every status that was set on a commit, oldest first.
func (g *GitHub) Statuses(owner, name, sha string) []Status {
	defer g.lock()()
	on := those(g.mustRepo(owner, name).statuses, func(s *status) bool { return s.sha == sha })
	return each(on, func(s *status) Status { return s.Status })
}

func (g *GitHub) createStatus(r *request) answer {
	in := Status{Creator: r.token.Login}
	r.decode(&in)
	sha := r.parts["sha"]
	if !isSHA(sha) || !g.hasCommit(r.repo, sha) {
		return unprocessable("No commit found for SHA: " + sha)
	}
	return created(statusShape(g.status(r.repo, sha, in)))
}

func statusShape(s *status) object {
	return object{"id": s.id, "state": s.State, "description": text(s.Description), "target_url": text(s.TargetURL),
		"context": s.Context}
}

// getCombinedStatus is the newest status of each context.
func (g *GitHub) getCombinedStatus(r *request) answer {
	sha := g.commitOf(r.repo, r.parts["ref"])
	if sha == "" {
		return failure(404, "Not Found")
	}
	var newest []*status
	for _, s := range slices.Backward(r.repo.statuses) {
		if s.sha == sha && !slices.ContainsFunc(newest, func(n *status) bool { return n.Context == s.Context }) {
			newest = append(newest, s)
		}
	}
	return counted(page(g, r, newest, statusShape), "statuses", len(newest))
}
