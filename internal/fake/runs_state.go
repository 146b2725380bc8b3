package fake

import (
	"cmp"
	"fmt"
	"time"
)

// WorkflowRun is one run of a workflow. Its jobs are check runs of github-actions.
type WorkflowRun struct {
	ID      int64  // reading only
	Name    string // the workflow's; CI when it is not given
	Path    string // .github/workflows/ci.yml when it is not given
	Event   string // push when it is not given
	Branch  string // the head's
	SHA     string // the head's; the branch's commit when it is not given
	Attempt int    // 1 when it is not given
	// HeadRepo is OWNER/NAME of the fork that it ran for; empty for the repository itself.
	HeadRepo   string
	Conclusion string // empty while it runs
	// Actor is who caused it, TriggeringActor who started this attempt; the owner and the actor when they are not given.
	Actor, TriggeringActor string
	Jobs                   []Job
}

// Job is one job of a workflow run.
type Job struct {
	ID         int64 // reading only
	Name       string
	Conclusion string  // empty while it runs
	Log        *string // nil when there is none, or none any more
}

type run struct {
	WorkflowRun
	suite      *suite
	workflowID int64
	number     int
	at         time.Time
	jobs       []*job
}

type job struct {
	run   *run
	check *checkRun
	log   *string
}

func (w *run) status() string {
	if w.Conclusion != "" {
		return "completed"
	}
	return "in_progress"
}

// AddWorkflowRun makes a run of a workflow with its jobs, and returns its id and those of its jobs in their order.
func (g *GitHub) AddWorkflowRun(owner, name string, w WorkflowRun) (id int64, jobs []int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	added := g.run(r, w)
	for _, j := range w.Jobs {
		c := g.checkRun(r, actionsApp, j.Name, added.SHA)
		c.Status = "in_progress"
		if j.Conclusion != "" {
			c.Status, c.Conclusion, c.CompletedAt = "completed", j.Conclusion, g.time()
		}
		added.jobs = append(added.jobs, &job{run: added, check: c, log: j.Log})
		jobs = append(jobs, c.ID)
	}
	return added.ID, jobs
}

// run adds a run without jobs. Callers hold the lock.
func (g *GitHub) run(r *repo, w WorkflowRun) *run {
	w.ID, w.Jobs = g.id(), nil
	w.Name, w.Path, w.Event = cmp.Or(w.Name, "CI"), cmp.Or(w.Path, ".github/workflows/ci.yml"), cmp.Or(w.Event, "push")
	w.SHA = cmp.Or(w.SHA, g.branchSHA(r, w.Branch))
	w.Actor = cmp.Or(w.Actor, r.owner)
	added := &run{WorkflowRun: w, suite: g.suite(r, actionsApp, w.SHA), workflowID: r.id + 5_000_000,
		number: len(r.runs) + 1, at: g.time()}
	r.runs = append(r.runs, added)
	return added
}

// jobOf makes a check run of github-actions a job, of a run of its own for each commit. Callers hold the lock.
func (g *GitHub) jobOf(r *repo, c *checkRun) {
	for _, w := range r.runs {
		if w.suite == c.suite {
			w.jobs = append(w.jobs, &job{run: w, check: c})
			return
		}
	}
	w := g.run(r, WorkflowRun{Branch: c.suite.branch, SHA: c.HeadSHA})
	w.jobs = append(w.jobs, &job{run: w, check: c})
}

func (g *GitHub) mustRun(owner, name string, id int64) *run {
	r := g.mustRepo(owner, name)
	w := r.findRun(id)
	if w == nil {
		panic(fmt.Sprintf("fake: there is no workflow run %d in %s", id, r))
	}
	return w
}

// SetJobLog gives a job its log. The id is the job's, which is its check run's.
func (g *GitHub) SetJobLog(owner, name string, jobID int64, text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	j := r.findJob(jobID)
	if j == nil {
		panic(fmt.Sprintf("fake: there is no job %d in %s", jobID, r))
	}
	j.log = &text
}
