package fake

import (
	"fmt"
	"slices"
	"strings"
)

// worksHere reports whether someone has a role that lets an issue be given to them, or a review be asked of them.
func (r *repo) worksHere(login string) bool {
	return slices.Contains([]string{"admin", "maintain", "write", "triage"}, r.permissions[strings.ToLower(login)])
}

// requestReviewers asks people for a review. It is refused for all of them when it is for one: an author cannot review,
// nor can a stranger.
func (g *GitHub) requestReviewers(r *request) answer {
	is := g.findPull(r)
	if is == nil {
		return notFound()
	}
	var in struct {
		Reviewers     []string
		TeamReviewers []string `json:"team_reviewers"`
	}
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	for _, login := range in.Reviewers {
		switch {
		case strings.EqualFold(login, is.Author):
			return unprocessable("Review cannot be requested from pull request author.")
		case !r.repo.worksHere(login):
			return unprocessable(fmt.Sprintf("Reviews may only be requested from collaborators. One or more of the users or "+
				"teams you specified is not a collaborator of the %s repository.", r.repo))
		}
	}
	for _, login := range in.Reviewers {
		if !slices.ContainsFunc(is.pull.requested, func(l string) bool { return strings.EqualFold(l, login) }) {
			is.pull.requests = append(is.pull.requests, login)
		}
		is.pull.requested = with(is.pull.requested, login)
	}
	return created(g.pullShape(r.repo, is))
}

// with is a list of logins with one more, unless it is there.
func with(list []string, login string) []string {
	if slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, login) }) {
		return list
	}
	return append(list, login)
}

func (g *GitHub) userShapes(logins []string) []object {
	list := []object{}
	for _, login := range logins {
		list = append(list, g.userShape(login))
	}
	return list
}

// updatePull changes a pull request's title and body by GraphQL.
func (g *GitHub) updatePull(t *token, args map[string]any) (any, *refusal) {
	const mutation = "updatePullRequest"
	if no := mayTalk(t, mutation); no != nil {
		return nil, no
	}
	id := mutationInput(args, "pullRequestId")
	for _, r := range g.repos {
		for _, is := range r.issues {
			if is.pull == nil || pullNode(is) != id {
				continue
			}
			in, _ := args["input"].(object)
			for key, to := range map[string]*string{"title": &is.Title, "body": &is.Body} {
				if text, given := in[key].(string); given {
					*to = text
				}
			}
			is.UpdatedAt = g.time()
			return object{"clientMutationId": nil, "pullRequest": g.pullNodeObject(r, is)}, nil
		}
	}
	return nil, unresolved(mutation, fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id))
}
