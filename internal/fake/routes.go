package fake

const (
	talkRead  = "issues=read; pull_requests=read"
	talkWrite = "issues=write; pull_requests=write"
)

// no one are the needs of a route that lets everyone in: it has a proof of its own.
const nobody = "nobody"

func accountRoutes() []route {
	return []route{
		{"GET", "/user", "", nil, (*GitHub).getUser},
		{"GET", "/user/installations/{id}/repositories", "", paging, (*GitHub).listUserRepositories},
		{"GET", "/rate_limit", "", nil, (*GitHub).getRateLimit},
		{"GET", repoPath, "metadata=read", nil, (*GitHub).getRepo},
		{"GET", "/orgs/{organisation}/memberships/{login}", "members=read", nil, (*GitHub).getMembership},
		{"GET", repoPath + "/collaborators/{login}", "metadata=read", nil, (*GitHub).isCollaborator},
		{"GET", repoPath + "/collaborators/{login}/permission", "metadata=read", nil, (*GitHub).getPermission},
	}
}

func appRoutes() []route {
	deliveries := []string{"per_page", "cursor"}
	return []route{
		{"GET", "/app", "", nil, (*GitHub).getApp},
		{"GET", "/app/installations", "", append([]string{"since", "outdated"}, paging...), (*GitHub).listInstallations},
		{"GET", "/app/installations/{id}", "", nil, (*GitHub).getInstallationByID},
		{"POST", "/app/installations/{id}/access_tokens", "", nil, (*GitHub).createInstallationToken},
		{"GET", "/app/hook/config", "", nil, (*GitHub).getHookConfig},
		{"PATCH", "/app/hook/config", "", nil, (*GitHub).editHookConfig},
		{"GET", "/app/hook/deliveries", "", deliveries, (*GitHub).listDeliveries},
		{"POST", "/app/hook/deliveries/{id}/attempts", "", nil, (*GitHub).redeliver},
		{"POST", "/app-manifests/{code}/conversions", nobody, nil, (*GitHub).convertManifest},
		{"GET", "/installation/repositories", "metadata=read", paging, (*GitHub).listInstallationRepositories},
		{"DELETE", "/installation/token", "", nil, (*GitHub).deleteInstallationToken},
		{"GET", repoPath + "/installation", "", nil, (*GitHub).getInstallation},
	}
}

func issueRoutes() []route {
	list := append([]string{"milestone", "state", "assignee", "creator", "mentioned", "labels", "sort", "direction",
		"since"}, paging...)
	return []route{
		{"GET", repoPath + "/issues", talkRead, list, (*GitHub).listIssues},
		{"GET", repoPath + "/issues/comments/{id}", talkRead, nil, (*GitHub).getComment},
		{"PATCH", repoPath + "/issues/comments/{id}", talkWrite, nil, (*GitHub).editComment},
		{"POST", repoPath + "/issues/comments/{id}/reactions", talkWrite, nil, (*GitHub).reactToComment},
		{"GET", repoPath + "/issues/{number}", talkRead, nil, (*GitHub).getIssue},
		{"GET", repoPath + "/issues/{number}/comments", talkRead, append([]string{"since"}, paging...),
			(*GitHub).listComments},
		{"POST", repoPath + "/issues/{number}/comments", talkWrite, nil, (*GitHub).createComment},
		{"GET", repoPath + "/issues/{number}/events", talkRead, paging, (*GitHub).listEvents},
		{"POST", repoPath + "/issues/{number}/reactions", talkWrite, nil, (*GitHub).reactToIssue},
	}
}

func labelRoutes() []route {
	return []route{
		{"POST", repoPath + "/issues/{number}/labels", talkWrite, nil, (*GitHub).addLabels},
		{"DELETE", repoPath + "/issues/{number}/labels/{name}", talkWrite, nil, (*GitHub).removeLabel},
		{"GET", repoPath + "/labels", talkRead, paging, (*GitHub).listLabels},
		{"POST", repoPath + "/labels", talkWrite, nil, (*GitHub).createLabel},
	}
}

func pullRoutes() []route {
	list := append([]string{"state", "head", "base", "sort", "direction"}, paging...)
	return []route{
		{"GET", repoPath + "/pulls", "pull_requests=read", list, (*GitHub).listPulls},
		{"POST", repoPath + "/pulls", "pull_requests=write", nil, (*GitHub).createPull},
		{"GET", repoPath + "/pulls/{number}", "pull_requests=read", nil, (*GitHub).getPull},
		{"PATCH", repoPath + "/pulls/{number}", "pull_requests=write", nil, (*GitHub).editPull},
		{"POST", repoPath + "/pulls/{number}/requested_reviewers", "pull_requests=write", nil, (*GitHub).requestReviewers},
	}
}

func reviewRoutes() []route {
	const read, write = "pull_requests=read", "pull_requests=write"
	pull := repoPath + "/pulls/{number}"
	list := append([]string{"sort", "direction", "since"}, paging...)
	return []route{
		{"GET", pull + "/reviews", read, paging, (*GitHub).listReviews},
		{"GET", pull + "/reviews/{id}", read, nil, (*GitHub).getReview},
		{"GET", pull + "/comments", read, list, (*GitHub).listPullComments},
		{"POST", pull + "/comments/{id}/replies", write, nil, (*GitHub).replyToReviewComment},
		{"GET", repoPath + "/pulls/comments/{id}", read, nil, (*GitHub).getReviewComment},
		{"POST", repoPath + "/pulls/comments/{id}/reactions", write, nil, (*GitHub).reactToReviewComment},
	}
}

func gitRoutes() []route {
	const read, write = "contents=read", "contents=write"
	return []route{
		{"GET", repoPath + "/git/ref/{ref...}", read, nil, (*GitHub).getRef},
		{"POST", repoPath + "/git/refs", write, nil, (*GitHub).createRef},
	}
}

func contentRoutes() []route {
	return []route{
		{"GET", repoPath + "/contents/{path...}", "contents=read", []string{"ref"}, (*GitHub).getContents},
		{"PUT", repoPath + "/contents/{path...}", "contents=write", nil, (*GitHub).putContents},
	}
}

func checkRunRoutes() []route {
	const read, write = "checks=read", "checks=write"
	list := append([]string{"check_name", "status", "filter", "app_id"}, paging...)
	return []route{
		{"POST", repoPath + "/check-runs", write, nil, (*GitHub).createCheckRun},
		{"PATCH", repoPath + "/check-runs/{id}", write, nil, (*GitHub).editCheckRun},
		{"GET", repoPath + "/check-runs/{id}", read, nil, (*GitHub).getCheckRun},
		{"GET", repoPath + "/check-suites/{id}", read, nil, (*GitHub).getCheckSuite},
		{"GET", repoPath + "/check-runs/{id}/annotations", read, paging, (*GitHub).listAnnotations},
		{"GET", repoPath + "/commits/{ref...}/check-runs", read, list, (*GitHub).listCheckRuns},
	}
}

func statusRoutes() []route {
	return []route{
		{"GET", repoPath + "/commits/{ref...}/status", "statuses=read", paging, (*GitHub).getCombinedStatus},
		{"POST", repoPath + "/statuses/{sha}", "statuses=write", nil, (*GitHub).createStatus},
	}
}

func runRoutes() []route {
	const read = "actions=read"
	actions := repoPath + "/actions"
	return []route{
		{"GET", actions + "/jobs/{id}/logs", read, nil, (*GitHub).getJobLog},
		{"POST", actions + "/workflows/{workflow}/dispatches", "actions=write", nil, (*GitHub).dispatchWorkflow},
	}
}

// settingRoutes come before those of a branch, whose name may hold slashes.
func settingRoutes() []route {
	actions := repoPath + "/actions"
	return []route{
		{"GET", actions + "/permissions", "administration=read", nil, (*GitHub).getActionsPermissions},
		{"GET", actions + "/permissions/workflow", "administration=read", nil, (*GitHub).getWorkflowPermissions},
		{"GET", actions + "/secrets", "secrets=read", paging, (*GitHub).listSecrets},
		{"GET", actions + "/organization-secrets", "secrets=read", paging, (*GitHub).listOrganizationSecrets},
		{"GET", repoPath + "/branches/{branch...}/protection", "administration=read", nil, (*GitHub).getProtection},
		{"GET", repoPath + "/rules/branches/{branch...}", "metadata=read", paging, (*GitHub).listRules},
		{"GET", repoPath + "/rulesets/{ruleset}", "metadata=read", nil, (*GitHub).getRuleset},
	}
}
