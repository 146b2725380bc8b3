package event

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Ways are which events start jobs, and whether jobs keep reports. The zero value lacks no event.
type Ways struct {
	Lacks   []Kind // the kinds of event that do not start jobs
	Reports bool   // jobs upload the reports as an artifact, even after a failure
}

// Work reports whether an event of a kind starts a job.
func (w Ways) Work(kind Kind) bool { return !slices.Contains(w.Lacks, kind) }

// triggers are the events and types under a workflow's on: that texts can offer.
var triggers = []struct {
	event, action string
	kind          Kind
}{
	{"issues", "labeled", Labeled}, {"issue_comment", "created", Commented}, {"pull_request_review", "submitted", Reviewed},
	{"schedule", "", Scheduled}, {"check_suite", "completed", Built}, {"workflow_run", "completed", Built},
}

// UnknownWays are those of an unreadable workflow: labels and comments only.
func UnknownWays() Ways { return Ways{Lacks: []Kind{Reviewed, Scheduled, Built}} }

// WaysOf reads which events start jobs of a workflow file. A workflow with the input request is dispatched by ralph's
// server for every event.
func WaysOf(workflow []byte) (Ways, error) {
	var file struct {
		On   any `yaml:"on"`
		Jobs map[string]struct {
			Uses  string `yaml:"uses"`
			Steps []struct {
				If   string         `yaml:"if"`
				Uses string         `yaml:"uses"`
				With map[string]any `yaml:"with"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(workflow, &file); err != nil {
		return UnknownWays(), fmt.Errorf("reading the workflow: %w", err)
	}
	on := mapping(file.On)
	_, dispatched := mapping(mapping(on["workflow_dispatch"])["inputs"])["request"]
	var works []Kind
	for _, t := range triggers {
		of, is := on[t.event]
		types, some := mapping(of)["types"]
		if is && (!some || mapping(types)[t.action] != nil) || dispatched {
			works = append(works, t.kind)
		}
	}
	var ways Ways
	for _, t := range triggers {
		if !slices.Contains(works, t.kind) && ways.Work(t.kind) {
			ways.Lacks = append(ways.Lacks, t.kind)
		}
	}
	for _, job := range file.Jobs {
		ways.Reports = ways.Reports || strings.Contains(job.Uses, "/ralph/.github/workflows/run.yml@")
		for _, step := range job.Steps {
			what := fmt.Sprint(step.With["path"])
			ways.Reports = ways.Reports || strings.HasPrefix(step.Uses, "actions/upload-artifact@") &&
				(strings.Contains(step.If, "always()") || strings.Contains(step.If, "cancelled()")) &&
				(strings.Contains(what, ".ralph") || strings.Contains(what, "report_file"))
		}
	}
	return ways, nil
}

// mapping reads a mapping of YAML, of which a name or a list of names is the short form.
func mapping(of any) map[string]any {
	switch of := of.(type) {
	case map[string]any:
		return of
	case string:
		return map[string]any{of: true}
	case []any:
		names := map[string]any{}
		for _, name := range of {
			names[fmt.Sprint(name)] = true
		}
		return names
	}
	return nil
}
