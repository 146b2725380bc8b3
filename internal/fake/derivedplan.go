package fake

import "encoding/json"

// DerivedPlan is an agent's answer that is a plan with one story, as JSON text.
func DerivedPlan(prd, branch string, commands ...string) string {
	list, _ := json.Marshal(append([]string{}, commands...))
	doc, _ := json.Marshal(prd)
	return `{"questions": [], "prd": ` + string(doc) + `, "tasks": {"project": "p", "branchName": "` + branch +
		`", "description": "Prices in euros", "verifyCommands": ` + string(list) +
		`, "userStories": [{"id": "US-001", "title": "Euros", "description": "d", "acceptanceCriteria": ["a"], "priority": 1, "passes": false, ` +
		`"reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []}]}}`
}
