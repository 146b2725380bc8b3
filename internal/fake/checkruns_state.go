package fake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// CheckRun is one check run on a commit.
type CheckRun struct {
	ID                   int64 // reading only
	Name, HeadSHA        string
	App                  string // the slug of the App that wrote it; github-actions when it is not given
	ExternalID           string
	DetailsURL           string
	Status               string // queued, in_progress or completed; completed when there is a Conclusion, else in_progress
	Conclusion           string // empty until it is completed
	Title, Summary, Text string
	Annotations          []Annotation
	StartedAt            time.Time
	CompletedAt          time.Time // zero until it is completed
}

// Annotation is a check run's remark on lines of a file.
type Annotation struct {
	Path                   string
	StartLine, EndLine     int
	StartColumn, EndColumn int    // 0 for the whole lines
	Level                  string // notice, warning or failure
	Message                string
	Title, RawDetails      string
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
	at     time.Time
}

// actionsApp is the App behind GITHUB_TOKEN, with its true number.
var actionsApp = &App{ID: 15368, Slug: "github-actions", Owner: "github"}

func (r *repo) findCheckRun(id int64) *checkRun {
	for _, c := range r.checkRuns {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// checkRun adds a queued run of an App, in the App's suite of the commit. Callers hold the lock.
func (g *GitHub) checkRun(r *repo, app *App, name, sha string) *checkRun {
	s := g.suite(r, app, sha)
	c := &checkRun{CheckRun: CheckRun{ID: g.id(), Name: name, HeadSHA: sha, App: app.Slug, Status: "queued",
		StartedAt: g.time()}, app: app, suite: s}
	r.checkRuns = append(r.checkRuns, c)
	return c
}

func (g *GitHub) suite(r *repo, app *App, sha string) *suite {
	for _, s := range r.suites {
		if s.app.ID == app.ID && s.sha == sha {
			return s
		}
	}
	s := &suite{id: g.id(), app: app, sha: sha, branch: g.branchAt(r, sha), at: g.time()}
	r.suites = append(r.suites, s)
	return s
}

// branchAt is a branch whose head is a commit, empty when there is none. Callers hold the lock.
func (g *GitHub) branchAt(r *repo, sha string) string {
	name, _, _ := strings.Cut(g.read(r, "for-each-ref", "--format=%(refname:lstrip=2)", "--points-at="+sha, "refs/heads"),
		"\n")
	return name
}

// appOf finds an App by its slug, or makes one up. Callers hold the lock.
func (g *GitHub) appOf(slug string) *App {
	if slug == "" || slug == actionsApp.Slug {
		return actionsApp
	}
	for _, a := range slices.Concat(g.apps, g.strangers) {
		if a.Slug == slug {
			return a
		}
	}
	a := &App{ID: g.id(), Slug: slug, Owner: slug}
	g.strangers = append(g.strangers, a)
	return a
}

// AddCheckRun puts a check run on a commit, as CI would, and returns its id. One of github-actions is the job of a
// workflow run too: a log can be given to it (SetJobLog).
func (g *GitHub) AddCheckRun(owner, name string, c CheckRun) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	added := g.checkRun(r, g.appOf(c.App), c.Name, c.HeadSHA)
	begun := added.StartedAt
	c.ID, c.App = added.ID, added.app.Slug
	if c.StartedAt.IsZero() {
		c.StartedAt = begun
	}
	if c.Conclusion != "" {
		c.Status = "completed"
	}
	c.Status = cmp.Or(c.Status, "in_progress")
	if c.Status == "completed" && c.CompletedAt.IsZero() {
		c.CompletedAt = g.time()
	}
	c.Annotations = slices.Clone(c.Annotations)
	added.CheckRun = c
	if added.app == actionsApp {
		g.jobOf(r, added)
	}
	return added.ID
}

// FinishCheckRun completes a check run with a conclusion, as in "failure".
func (g *GitHub) FinishCheckRun(owner, name string, id int64, conclusion string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.mustCheckRun(owner, name, id)
	c.Status, c.Conclusion, c.CompletedAt = "completed", conclusion, g.time()
}

func (g *GitHub) mustCheckRun(owner, name string, id int64) *checkRun {
	r := g.mustRepo(owner, name)
	c := r.findCheckRun(id)
	if c == nil {
		panic(fmt.Sprintf("fake: there is no check run %d in %s", id, r))
	}
	return c
}

// CheckRuns reads the check runs on a commit, oldest first, with their annotations.
func (g *GitHub) CheckRuns(owner, name, sha string) []CheckRun {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []CheckRun
	for _, c := range g.mustRepo(owner, name).checkRuns {
		if c.HeadSHA == sha {
			one := c.CheckRun
			one.Annotations = slices.Clone(c.Annotations)
			all = append(all, one)
		}
	}
	return all
}
