package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
)

// TestTemplateHeadings: which headings ralph fills, and with what.
func TestTemplateHeadings(t *testing.T) {
	for title, want := range map[string]string{
		"What does this PR do?": "state", "Proposed changes": "state", "**Description**": "state", "1. Overview": "state",
		"Motivation and Context": "asked", "Why": "asked", "Related issues": "closes", "Linked tickets": "closes",
		"How Has This Been Tested?": "checks", "Test plan": "checks", "Checklist": "", "Breaking changes": "", "": "",
	} {
		got := ""
		for _, s := range slots {
			if s.heading == slotOf(title) {
				got = s.holds[0]
			}
		}
		if got != want {
			t.Errorf("%q holds %q, want %q", title, got, want)
		}
	}
}

// TestTemplate has a row for each rule by which a template is filled.
func TestTemplate(t *testing.T) {
	for _, tt := range []struct{ name, template, want, not string }{
		{"an underlined heading", "Description\n---\nplease write\n\nNotes\n===\nmine", "## Description\n\n**✅ Done",
			"please write"},
		{"comments are dropped", "## Notes\n<!-- hidden\nyou -->keep<!-- open", "## Notes\n\nkeep\n", "hidden"},
		{"a known heading's own words give way", "## Description\nPlease describe\n- [ ] a box\n", "- [ ] a box",
			"Please describe"},
		{"an unknown heading's own words stay", "## Deployment\nNone needed, _really_",
			"## Deployment\n\nNone needed, \\_really\\_", ""},
		{"boxes are not ticked", "## Checklist\n- [x] done\n* [X] too", "- [ ] done\n* [ ] too", "[x]"},
		{"nothing is closed or mentioned", "## Notes\nfixes #12 alice/demo#3 @bob", "fixes `#12` `alice/demo#3` `@bob`", ""},
		{"markup of theirs is dropped", "## Notes\n<details><summary>More</summary>\ninside\n</details>", "More\ninside",
			"<summary>More"},
		{"a heading in a fence is none", "## Notes\n```\n## Description\n@bob\n```", "```text\n## Description\n@bob\n```",
			""},
		{"no place, and it goes below", "## Notes\nmine", "mine\n\nCloses #42\n\n**✅ Done", ""},
		{"every slot once", "## Description\n## Summary\nown", "## Summary\n\nown", ""},
		{"a motivation of its own gets what was asked", "## Summary\nx\n## Why\ny", "## Why\n\n**What was asked**", ""},
	} {
		got := templated(done(), tt.template)
		if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: want %q, not %q:\n%.600s", tt.name, tt.want, tt.not, got)
		}
		for _, p := range sample.Inertness(got) {
			t.Errorf("%s: %s", tt.name, p)
		}
		for _, all := range []string{"Closes #42", "What was asked", "What to look at", "Try it yourself"} {
			if strings.Count(got, all) != 1 {
				t.Errorf("%s: %q is there %d times", tt.name, all, strings.Count(got, all))
			}
		}
	}
}
