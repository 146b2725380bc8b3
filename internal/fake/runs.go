package fake

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
)

func (r *repo) findRun(id int64) *run {
	for _, w := range r.runs {
		if w.ID == id {
			return w
		}
	}
	return nil
}

// findJob finds a job; its id is its check run's.
func (r *repo) findJob(id int64) *job {
	for _, w := range r.runs {
		for _, j := range w.jobs {
			if j.check.ID == id {
				return j
			}
		}
	}
	return nil
}

// getJobLog leads to the log, which lies on another host and is open for a minute to whoever has its address.
func (g *GitHub) getJobLog(r *request) answer {
	j := r.repo.findJob(r.number("id"))
	if j == nil || j.log == nil {
		return notFound()
	}
	root, err := url.Parse(g.url)
	if err != nil { // New made it
		panic(err)
	}
	address := fmt.Sprintf("http://localhost:%s/_logs/%d.txt?sig=%s", root.Port(), j.check.ID, node("log", j.check.ID))
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
	text, found := g.jobLog(id)
	if !found {
		http.Error(w, "BlobNotFound", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text) // the client may be gone
}

func (g *GitHub) jobLog(id int64) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.repos {
		if j := r.findJob(id); j != nil && j.log != nil {
			return *j.log, true
		}
	}
	return "", false
}

func (g *GitHub) runShape(r *repo, w *run) object {
	api := fmt.Sprintf("%s/actions/runs/%d", g.repoAPI(r), w.ID)
	workflow := fmt.Sprintf("%s/actions/workflows/%d", g.repoAPI(r), w.workflowID)
	o := object{
		"id": w.ID, "name": w.Name, "node_id": node("WFR", w.ID), "check_suite_id": w.suite.id,
		"check_suite_node_id": node("CS", w.suite.id),
		"head_branch":         text(w.Branch), "head_sha": w.SHA, "path": w.Path, "display_title": w.Name,
		"run_number":  w.number,
		"run_attempt": max(w.Attempt, 1),
		"event":       w.Event, "status": w.status(), "conclusion": text(w.Conclusion), "workflow_id": w.workflowID,
		"url":      api,
		"html_url": fmt.Sprintf("%s/%s/actions/runs/%d", g.url, r, w.ID), "pull_requests": g.runPulls(r, w),
		"created_at": stamp(w.at),
		"updated_at": stamp(w.at), "run_started_at": stamp(w.at), "actor": g.userShape(w.Actor),
		"triggering_actor": g.userShape(cmp.Or(w.TriggeringActor, w.Actor)),
		"jobs_url":         api + "/jobs", "logs_url": api + "/logs",
		"check_suite_url": fmt.Sprintf("%s/check-suites/%d", g.repoAPI(r), w.suite.id),
		"artifacts_url":   api + "/artifacts", "cancel_url": api + "/cancel", "rerun_url": api + "/rerun",
		"previous_attempt_url": nil,
		"workflow_url":         workflow, "head_commit": g.headCommit(r, w.SHA), "repository": g.repoShape(r, ""),
		"head_repository": g.repoShape(r, w.HeadRepo), "head_repository_id": r.id, "referenced_workflows": []object{},
	}
	return o
}

// runPulls are the pull requests that a run is for: none when it ran for a fork.
func (g *GitHub) runPulls(r *repo, w *run) []object {
	if w.HeadRepo != "" {
		return []object{}
	}
	return g.pullsAt(r, w.SHA)
}

func (g *GitHub) headCommit(r *repo, sha string) any {
	c, err := g.readCommit(r, sha)
	if err != nil {
		return nil
	}
	person := func(p person) object { return object{"name": p.name, "email": p.email} }
	return object{
		"id": sha, "tree_id": c.tree, "message": c.message, "timestamp": stamp(c.committer.at), "author": person(c.author),
		"committer": person(c.committer),
	}
}

func (g *GitHub) jobPage(r *repo, j *job) string {
	return fmt.Sprintf("%s/%s/actions/runs/%d/job/%d", g.url, r, j.run.ID, j.check.ID)
}
