package fake

import (
	"fmt"
	"path"
)

// WorkflowRunPayload is the payload of workflow_run.completed for a run of AddWorkflowRun's that has its conclusion.
func (g *GitHub) WorkflowRunPayload(owner, name string, runID int64) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, w := g.mustRepo(owner, name), g.mustRun(owner, name, runID)
	if w.Conclusion == "" {
		panic(fmt.Sprintf("fake: run %d of %s has not ended", runID, r))
	}
	sender := w.Actor
	if w.TriggeringActor != "" {
		sender = w.TriggeringActor
	}
	return g.payload(r, sender, object{"action": "completed", "workflow_run": g.runShape(r, w),
		"workflow": g.workflowShape(r, w)})
}

func (g *GitHub) workflowShape(r *repo, w *run) object {
	at, file := stamp(r.createdAt), path.Base(w.Path)
	return object{
		"id": w.workflowID, "node_id": node("W", w.workflowID), "name": w.Name, "path": w.Path, "state": "active",
		"created_at": at,
		"updated_at": at, "url": fmt.Sprintf("%s/actions/workflows/%d", g.repoAPI(r), w.workflowID),
		"html_url":  fmt.Sprintf("%s/%s/blob/%s/%s", g.url, r, r.defaultBranch, w.Path),
		"badge_url": fmt.Sprintf("%s/%s/workflows/%s/badge.svg", g.url, r, file),
	}
}

// wholeSuite is a suite that is not a part of something else.
func (g *GitHub) wholeSuite(r *repo, s *suite) object {
	o := g.suiteShape(r, s)
	for key, v := range (object{
		"latest_check_runs_count": len(r.checkRunsOf(s)),
		"check_runs_url":          fmt.Sprintf("%s/check-suites/%d/check-runs", g.repoAPI(r), s.id),
		"head_commit":             g.headCommit(r, s.sha), "rerequestable": true, "runs_rerequestable": true,
	}) {
		o[key] = v
	}
	return o
}

func (g *GitHub) getCheckSuite(r *request) answer {
	for _, s := range r.repo.suites {
		if s.id == r.number("id") {
			o := g.wholeSuite(r.repo, s)
			o["repository"] = g.repoShape(r.repo, "")
			return ok(o)
		}
	}
	return notFound()
}

// bot is the login that an App writes as.
func (a *App) bot() string { return a.Slug + "[bot]" }

func (r *repo) checkRunsOf(s *suite) []*checkRun {
	var all []*checkRun
	for _, c := range r.checkRuns {
		if c.suite == s {
			all = append(all, c)
		}
	}
	return all
}

func (g *GitHub) suiteShape(r *repo, s *suite) object {
	status, conclusion := s.state(r)
	return object{
		"id": s.id, "node_id": node("CS", s.id), "head_branch": text(s.branch), "head_sha": s.sha, "status": status,
		"conclusion": text(conclusion), "url": fmt.Sprintf("%s/check-suites/%d", g.repoAPI(r), s.id), "before": nil,
		"after":         s.sha,
		"pull_requests": g.pullsAt(r, s.sha), "app": g.appShape(s.app), "created_at": stamp(s.at),
		"updated_at": stamp(g.time()),
	}
}

// state is what a suite's newest run of each name comes to.
func (s *suite) state(r *repo) (status, conclusion string) {
	newest := map[string]*checkRun{}
	for _, c := range r.checkRunsOf(s) {
		newest[c.Name] = c
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
	if len(newest) == 0 {
		return "queued", ""
	}
	return "completed", conclusion
}

// RepositoryDispatchPayload is the payload of repository_dispatch: eventType is what was sent as event_type,
// clientPayload anything that becomes a JSON object.
func (g *GitHub) RepositoryDispatchPayload(owner, name, sender, eventType string, clientPayload any) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	return g.payload(r, sender, object{"action": eventType, "branch": r.defaultBranch, "client_payload": clientPayload})
}
