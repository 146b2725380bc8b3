package github

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Permissions are what an App, an installation or a token may do, under GitHub's names: {"pull_requests": "write"}. The
// levels are "read" and "write"; what does not exist is not allowed.
type Permissions map[string]string

// Needed is what ralph does on a repository, and nothing else. With workflows it also pushes changes of workflow files,
// with dispatch it starts workflows.
func Needed(workflows, dispatch bool) Permissions {
	p := Permissions{
		"actions": "read", "checks": "write", "contents": "write", "issues": "write", "metadata": "read",
		"pull_requests": "write", "statuses": "read",
	}
	if workflows {
		p["workflows"] = "write"
	}
	if dispatch {
		p["actions"] = "write"
	}
	return p
}

// deciding is what it takes to decide what happens to an event, to answer it with a reaction, and to look at a repository.
func deciding() Permissions {
	return Permissions{"actions": "read", "checks": "read", "contents": "read", "issues": "write", "metadata": "read",
		"pull_requests": "write", "statuses": "read"}
}

// NeededEvents are the webhook events that ralph does something about. Those of installations come unasked.
func NeededEvents() []string {
	return []string{"check_suite", "issue_comment", "issues", "pull_request", "pull_request_review",
		"pull_request_review_comment", "workflow_run"}
}

// Lacks names what is in p and not granted, sorted, as workflows write it: "pull-requests: write".
func (p Permissions) Lacks(granted Permissions) []string {
	var lacks []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if granted[name] != "write" && granted[name] != p[name] {
			lacks = append(lacks, strings.ReplaceAll(name, "_", "-")+": "+p[name])
		}
	}
	return lacks
}

// within is as much of p as was granted.
func (p Permissions) within(granted Permissions) Permissions {
	both := Permissions{}
	for name, level := range p {
		if has := granted[name]; has == "write" || has == level {
			both[name] = level
		} else if has != "" {
			both[name] = has
		}
	}
	return both
}

// shape is p as a request has it.
func (p Permissions) shape() *github.InstallationPermissions {
	shape := &github.InstallationPermissions{}
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, shape)
	}
	if err != nil { // texts alone, which both take
		panic(err)
	}
	return shape
}

// permissionsOf are those of an answer.
func permissionsOf(shape *github.InstallationPermissions) Permissions {
	p := Permissions{}
	text, err := json.Marshal(shape)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p == nil { // null
		return Permissions{}
	}
	return p
}
