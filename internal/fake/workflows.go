package fake

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// findJob finds a job; its id is its check run's.
func (r *repo) findJob(id int64) *job {
	for _, w := range r.runs {
		if j := first(w.jobs, func(j *job) bool { return j.check.ID == id }); j != nil {
			return j
		}
	}
	return nil
}

// getJobLog leads to the log, which lies on another host and is open for a minute to everyone who has its address.
func (g *GitHub) getJobLog(r *request) answer {
	j := r.repo.findJob(r.number("id"))
	if j == nil || j.log == nil {
		return notFound()
	}
	address := fmt.Sprintf("%s/_logs/%d.txt?sig=%s", strings.Replace(g.url, "127.0.0.1", "localhost", 1), j.check.ID,
		node("log", j.check.ID))
	return answer{status: http.StatusFound, header: http.Header{"Location": {address}}}
}

var logPath = regexp.MustCompile(`^/_logs/(\d+)\.txt$`)

// serveLog serves a job's log. The store behind GitHub refuses a request that carries an Authorization of another
// place.
func (g *GitHub) serveLog(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(logPath.FindStringSubmatch(r.URL.Path)[1], 10, 64)
	if err != nil || r.URL.Query().Get("sig") != node("log", id) {
		http.Error(w, "AuthenticationFailed", http.StatusForbidden)
		return
	}
	if r.Header.Get("Authorization") != "" {
		g.problem("%s %s: a token of GitHub's was sent to the store of logs", r.Method, r.URL.Path)
		http.Error(w, "InvalidAuthenticationInfo", http.StatusBadRequest)
		return
	}
	text := g.jobLog(id)
	if text == nil {
		http.Error(w, "BlobNotFound", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, *text) // the client may be gone
}

func (g *GitHub) jobLog(id int64) *string {
	defer g.lock()()
	for _, r := range g.repos {
		if j := r.findJob(id); j != nil {
			return j.log
		}
	}
	return nil
}

// runShape is a run that has its conclusion.
func (g *GitHub) runShape(r *repo, w *run) object {
	return object{
		"id": w.ID, "name": w.Name, "check_suite_id": w.suite.id, "head_branch": text(w.Branch), "head_sha": w.SHA,
		"path": w.Path, "run_attempt": max(w.Attempt, 1), "event": w.Event, "status": "completed",
		"conclusion": text(w.Conclusion), "html_url": fmt.Sprintf("%s/%s/actions/runs/%d", g.url, r, w.ID),
		"actor": g.userShape(w.Actor), "triggering_actor": g.userShape(cmp.Or(w.TriggeringActor, w.Actor)),
		"head_repository": g.repoShape(r, w.HeadRepo),
	}
}

func (g *GitHub) jobPage(r *repo, j *job) string {
	return fmt.Sprintf("%s/%s/actions/runs/%d/job/%d", g.url, r, j.run.ID, j.check.ID)
}

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
	Name       string
	Conclusion string  // empty while it runs
	Log        *string // nil when it does not exist, or no longer
}

type run struct {
	WorkflowRun
	suite *suite
	jobs  []*job
}

type job struct {
	run   *run
	check *checkRun
	log   *string
}

// AddWorkflowRun makes a run of a workflow with its jobs, and returns its id and those of its jobs in their order.
func (g *GitHub) AddWorkflowRun(owner, name string, w WorkflowRun) (id int64, jobs []int64) {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	added := g.run(r, w)
	for _, j := range w.Jobs {
		c := g.checkRun(r, actionsApp, CheckRun{Name: j.Name, HeadSHA: added.SHA, Conclusion: j.Conclusion})
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
	added := &run{WorkflowRun: w, suite: g.suite(r, actionsApp, w.SHA)}
	r.runs = append(r.runs, added)
	return added
}

// jobOf makes a check run of github-actions a job, of a run of its own for each commit. Callers hold the lock.
func (g *GitHub) jobOf(r *repo, c *checkRun) {
	w := first(r.runs, func(w *run) bool { return w.suite == c.suite })
	if w == nil {
		w = g.run(r, WorkflowRun{Branch: c.suite.branch, SHA: c.HeadSHA})
	}
	w.jobs = append(w.jobs, &job{run: w, check: c})
}

// SetJobLog gives a job its log. The id is the job's, which is its check run's.
func (g *GitHub) SetJobLog(owner, name string, jobID int64, text string) {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	must(r.findJob(jobID), "job %d in %s", jobID, r).log = &text
}

// Dispatched is a workflow that was started by REST.
type Dispatched struct {
	Workflow string // "ralph.yml"
	Ref      string // "main"
	Inputs   map[string]string
	Sender   string // login of whose token it was
}

// Dispatches are the workflows of a repository that were started, the oldest first.
func (g *GitHub) Dispatches(owner, name string) []Dispatched {
	defer g.lock()()
	return slices.Clone(g.mustRepo(owner, name).dispatches)
}

// OnDispatch has someone hear of each workflow that is started, as a runner does.
func (g *GitHub) OnDispatch(started func(owner, name string, d Dispatched)) {
	defer g.lock()()
	g.started = started
}

// dispatchWorkflow answers as GitHub does: the file must be there on the ref, must have the trigger, and must declare
// each input.
func (g *GitHub) dispatchWorkflow(r *request) answer {
	var in struct {
		Ref    string
		Inputs map[string]string
	}
	r.decode(&in)
	file := r.parts["workflow"]
	text := g.read(r.repo, "show", r.repo.defaultBranch+":.github/workflows/"+file)
	branch := strings.TrimPrefix(in.Ref, "refs/heads/")
	switch {
	case text == "":
		return notFound()
	case g.branchSHA(r.repo, branch) == "":
		return unprocessable("No ref found for: " + in.Ref)
	}
	declared, ok := dispatchInputs(text)
	if !ok {
		return unprocessable("Workflow does not have 'workflow_dispatch' trigger")
	}
	var odd []string
	for _, name := range slices.Sorted(maps.Keys(in.Inputs)) {
		if !slices.Contains(declared, name) {
			odd = append(odd, fmt.Sprintf("%q", name))
		}
	}
	if odd != nil {
		return unprocessable("Unexpected inputs provided: [" + strings.Join(odd, ", ") + "]")
	}
	d := Dispatched{file, branch, in.Inputs, r.token.Login}
	r.repo.dispatches = append(r.repo.dispatches, d)
	if g.started != nil {
		go g.started(r.repo.owner, r.repo.name, d)
	}
	return answer{status: http.StatusNoContent}
}

// dispatchInputs are the inputs that a workflow file declares for workflow_dispatch; ok is false without that trigger in
// a map of triggers, which is how ralph writes them.
func dispatchInputs(text string) (names []string, ok bool) {
	var file struct {
		On map[string]struct{ Inputs map[string]any }
	}
	if yaml.Unmarshal([]byte(text), &file) != nil {
		return nil, false
	}
	trigger, ok := file.On["workflow_dispatch"]
	return slices.Collect(maps.Keys(trigger.Inputs)), ok
}
