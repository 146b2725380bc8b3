package event

import (
	"slices"
	"testing"
)

// TestWaysOf: what a workflow's triggers and steps let people do, in every form that YAML has for them.
func TestWaysOf(t *testing.T) {
	for _, tt := range []struct {
		name, workflow string
		lacks          []Kind
		reports        bool
	}{
		{"one event", "on: issue_comment", []Kind{Labeled, Reviewed, Scheduled, Built}, false},
		{"a list", "on: [issues, issue_comment, check_suite]", []Kind{Reviewed, Scheduled}, false},
		{"types", "on:\n  issues: {types: [closed, unlabeled]}\n  issue_comment: {types: created}\n  pull_request_review:\n    types: [submitted]\n",
			[]Kind{Labeled, Scheduled, Built}, false},
		{"quoted, with a schedule", "'on':\n  issues:\n  schedule: [{cron: '1 * * * *'}]\n  workflow_run: {workflows: [CI], types: [requested]}",
			[]Kind{Commented, Reviewed, Built}, false},
		{"one that a server dispatches", "on:\n  workflow_dispatch: {inputs: {request: {type: string}}}\n", nil, false},
		{"one that people dispatch", "on:\n  workflow_dispatch: {inputs: {issue: {type: string}}}\n",
			[]Kind{Labeled, Commented, Reviewed, Scheduled, Built}, false},
		{"the reusable workflow keeps reports", "on: [issues]\njobs: {ralph: {uses: ralph-loop/ralph/.github/workflows/run.yml@v0}}",
			[]Kind{Commented, Reviewed, Scheduled, Built}, true},
		{"so does a step that always runs", "on: [issues]\njobs:\n  r:\n    steps:\n      - uses: actions/upload-artifact@v4\n        if: always()\n        with: {path: .ralph/runs}",
			[]Kind{Commented, Reviewed, Scheduled, Built}, true},
		{"not one that a failure skips", "on: [issues]\njobs:\n  r:\n    steps:\n      - uses: actions/upload-artifact@v4\n        with: {path: .ralph/runs}",
			[]Kind{Commented, Reviewed, Scheduled, Built}, false},
		{"no YAML", "on: [", []Kind{Reviewed, Scheduled, Built}, false},
	} {
		ways, err := WaysOf([]byte(tt.workflow))
		if !slices.Equal(ways.Lacks, tt.lacks) || ways.Reports != tt.reports || (err != nil) != (tt.name == "no YAML") {
			t.Errorf("%s: %+v, %v; want %v, %t", tt.name, ways, err, tt.lacks, tt.reports)
		}
	}
}
