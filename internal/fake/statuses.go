package fake

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Status is one commit status.
type Status struct {
	Context string // default when it is not given
	State   string // error, failure, pending or success
	// Description and TargetURL may be empty.
	Description, TargetURL string
	Creator                string
}

type status struct {
	Status
	id  int64
	sha string
	at  time.Time
}

var statusStates = []string{"error", "failure", "pending", "success"}

// AddStatus sets a status on a commit, as CI would.
func (g *GitHub) AddStatus(owner, name, sha string, s Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status(g.mustRepo(owner, name), sha, s)
}

func (g *GitHub) status(r *repo, sha string, s Status) *status {
	s.Context, s.Creator = cmp.Or(s.Context, "default"), cmp.Or(s.Creator, r.owner)
	g.user(s.Creator)
	added := &status{Status: s, id: g.id(), sha: sha, at: g.time()}
	r.statuses = append(r.statuses, added)
	return added
}

// Statuses reads every status that was set on a commit, oldest first.
func (g *GitHub) Statuses(owner, name, sha string) []Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []Status
	for _, s := range g.mustRepo(owner, name).statuses {
		if s.sha == sha {
			all = append(all, s.Status)
		}
	}
	return all
}

func (g *GitHub) createStatus(r *request) answer {
	var in struct {
		State, Description, Context string
		TargetURL                   string `json:"target_url"`
	}
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	sha := r.parts["sha"]
	switch {
	case !slices.Contains(statusStates, in.State):
		return invalid("Status", "state", "custom", "state is not included in the list")
	case len(in.Description) > 140:
		return invalid("Status", "description", "custom", "description is too long (maximum is 140 characters)")
	case !isSHA(sha) || !g.hasCommit(r.repo, sha):
		return unprocessable("No commit found for SHA: " + sha)
	}
	s := g.status(r.repo, sha, Status{
		Context: in.Context, State: in.State, Description: in.Description, TargetURL: in.TargetURL, Creator: r.token.login,
	})
	o := g.statusShape(r.repo, s)
	o["creator"] = g.userShape(s.Creator)
	return created(o)
}

func (g *GitHub) statusShape(r *repo, s *status) object {
	o := object{
		"id": s.id, "node_id": node("SC", s.id), "url": fmt.Sprintf("%s/statuses/%s", g.repoAPI(r), s.sha), "state": s.State,
		"description": text(s.Description), "target_url": text(s.TargetURL), "context": s.Context, "created_at": stamp(s.at),
		"updated_at": stamp(s.at), "avatar_url": fmt.Sprintf("%s/avatars/u/%d", g.url, g.user(s.Creator).id),
	}
	return o
}

// getCombinedStatus is the newest status of each context, and what they come to.
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
	a := page(g, r, newest, func(s *status) object { return g.statusShape(r.repo, s) })
	api := g.repoAPI(r.repo)
	a.body = object{
		"state": combined(newest), "statuses": a.body, "sha": sha, "total_count": len(newest),
		"repository": g.repoShape(r.repo, ""),
		"commit_url": api + "/commits/" + sha, "url": api + "/commits/" + sha + "/status",
	}
	return a
}

// combined is failure when any status is one, pending when any is or there is none, and else success.
func combined(all []*status) string {
	worst := "success"
	if len(all) == 0 {
		return "pending"
	}
	for _, s := range all {
		switch s.State {
		case "error", "failure":
			return "failure"
		case "pending":
			worst = "pending"
		}
	}
	return worst
}
