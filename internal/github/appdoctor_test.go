package github

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// TestAppExamines has a row for each thing that can be wrong, and for nothing.
func TestAppExamines(t *testing.T) {
	needs := AppNeeds{
		Permissions: Needed(false, false), Labels: []string{"ralph"},
		OrganisationRepository: ".github", OrganisationFile: "ralph.json", SettingsFile: ".ralph/settings.json",
		Settings: func(organisation, own []byte) (AppSettings, error) {
			if strings.Contains(string(organisation)+string(own), "broken") {
				return AppSettings{}, errors.New("the settings are broken")
			}
			return AppSettings{Agent: "claude", Dispatch: strings.Contains(string(own), "dispatch")}, nil
		},
		HasKey: func(agent string) (has, known bool) { return agent == "claude", true },
	}
	tests := []struct {
		name   string
		change func(s *stage, app *fake.App, n *AppNeeds)
		after  func(s *stage)
		what   string
		grade  Grade
		says   string // in what is said or advised
	}{
		{"nothing", nil, nil, "settings", OK, "the defaults apply"},
		{"own settings", nil, func(s *stage) { s.commit("main", ".ralph/settings.json", "{}") }, "settings", OK,
			"Those of .ralph/settings.json can be read."},
		{"broken settings", nil, func(s *stage) { s.commit("main", ".ralph/settings.json", "broken") }, "settings", Problem,
			"the settings are broken"},
		{"the owner's settings", nil, func(s *stage) {
			s.repo(".github", true)
			noError(s.t, errOf(s.CommitFiles(owner, ".github", "main", "seed", map[string]string{"ralph.json": "{}"})))
		}, "settings", OK, "Those of alice/.github count"},
		{"deaf", func(_ *stage, a *fake.App, _ *AppNeeds) { a.Events = []string{"issues"} }, nil, "the App", Problem,
			"does not hear of check_suite, issue_comment"},
		{"less granted", func(_ *stage, a *fake.App, _ *AppNeeds) {
			a.Permissions = fake.Permissions{"contents": "write", "issues": "write", "pull_requests": "write", "actions": "read",
				"statuses": "read"}
		}, nil, "permissions", Warning, "has not been granted checks: write"},
		{"much less granted", func(_ *stage, a *fake.App, _ *AppNeeds) {
			a.Permissions = fake.Permissions{"contents": "read"}
		}, nil, "permissions", Problem, "contents: write"},
		{"not installed", func(_ *stage, a *fake.App, _ *AppNeeds) { a.InstallationID = 0 }, nil, "the installation", Problem,
			"is not installed on alice/demo"},
		{"suspended", nil, func(s *stage) { s.Suspend(80, true) }, "the installation", Problem, "Unsuspend it at "},
		{"no key", func(_ *stage, _ *fake.App, n *AppNeeds) {
			n.HasKey = func(string) (has, known bool) { return false, true }
		}, nil,
			"the agent's key", Problem, "no key for claude"},
		{"a workflow that nobody may start", func(_ *stage, a *fake.App, _ *AppNeeds) {
			a.Permissions = fake.Permissions{"contents": "write", "issues": "write", "pull_requests": "write", "checks": "write",
				"actions": "read", "statuses": "read"}
		}, func(s *stage) {
			s.commit("main", ".ralph/settings.json", `{"dispatch": "workflow"}`)
		}, "permissions", Problem, "A workflow does the runs"},
		{"another App", func(_ *stage, a *fake.App, _ *AppNeeds) { a.ID = 9 }, nil, "the App", Problem, "belong together"},
		{"GitHub away", nil, func(s *stage) {
			s.Fail(fake.Fault{Match: "GET /repos/.../contents/...", Status: 502, Times: -1})
		}, "settings", Warning, "GitHub has trouble of its own"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			app, n := fake.App{ID: 8, Slug: "hears", Owner: owner, InstallationID: 80, Key: &appKey().PublicKey,
				Events: NeededEvents()}, needs
			if tt.change != nil {
				tt.change(s, &app, &n)
			}
			s.AddApp(app)
			s.LoseDeliveries(app.ID, -1)
			if tt.after != nil {
				tt.after(s)
			}
			a := s.opened(func(o *AppOptions) { o.ID = 8 })
			r := a.Examine(t.Context(), event.Repo{Owner: owner, Name: name}, n)
			found := false
			for _, f := range r.Facts {
				found = found || f.What == tt.what && f.Grade == tt.grade && strings.Contains(f.Says+" "+f.Advice, tt.says)
				if tt.name == "nothing" && f.Grade != OK && f.What != "labels" {
					t.Errorf("%+v", f)
				}
			}
			if !found {
				t.Errorf("there is no %s of %s with %q in %+v", tt.grade, tt.what, tt.says, r.Facts)
			}
		})
	}
}
