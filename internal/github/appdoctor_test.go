package github

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// TestAppExamines has a row for each thing that can be wrong, and for nothing.
func TestAppExamines(t *testing.T) {
	granted := func(p fake.Permissions) func(*stage, *fake.App) {
		return func(_ *stage, a *fake.App) { a.Permissions = p }
	}
	for _, tt := range []struct {
		name   string
		change func(s *stage, app *fake.App)
		what   string
		grade  Grade
		says   string // in what is said or advised
	}{
		{"nothing", func(*stage, *fake.App) {}, "the installation", OK, "has all that ralph needs"},
		{"deaf", func(_ *stage, a *fake.App) { a.Events = []string{"issues"} }, "the App", Problem,
			"does not hear of check_suite, issue_comment"},
		{"less granted", granted(fake.Permissions{"contents": "write", "issues": "write", "pull_requests": "write", "actions": "read",
			"statuses": "read"}), "permissions", Warning, "has not been granted checks: write"},
		{"much less granted", granted(fake.Permissions{"contents": "read"}), "permissions", Problem, "contents: write"},
		{"not installed", func(_ *stage, a *fake.App) { a.InstallationID = 0 }, "the installation", Problem,
			"is not installed on alice/demo"},
		{"suspended", func(_ *stage, a *fake.App) { a.InstallationID = 81 }, "the installation", Problem, "Unsuspend it at "},
		{"another App", func(_ *stage, a *fake.App) { a.ID = 9 }, "the App", Problem, "belong together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			app := fake.App{ID: 8, Slug: "hears", Owner: owner, InstallationID: 80, Key: &appKey().PublicKey, Events: NeededEvents()}
			tt.change(s, &app)
			s.AddApp(app)
			s.LoseDeliveries(app.ID, -1)
			if tt.name == "suspended" {
				s.Suspend(81, true)
			}
			r := s.opened(func(o *AppOptions) { o.ID = 8 }).Examine(t.Context(), event.Repo{Owner: owner, Name: name}, []string{"ralph"})
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
