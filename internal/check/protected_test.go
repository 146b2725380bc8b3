package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestProtects(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"ci/**", "ci/a/b.sh", true},
		{"ci/*", "ci/a.sh", true},
		{"ci/*", "ci/a/b.sh", false},
		{"ci", "ci/a/b.sh", true},
		{"ci", "sub/ci/a.sh", true},
		{"/ci", "sub/ci/a.sh", false},
		{"/ci", "ci", true},
		{"./ci/x", "ci/x", true},
		{"*.lock", "a/b/yarn.lock", true},
		{"/*.lock", "a/yarn.lock", false},
		{"{Makefile,*.mk}", "build/rules.mk", true},
		{".github/workflows/**", ".GitHub/Workflows/CI.yml", true},
		{"Makefile", "Makefile.old", false},
		{"a[", "anything", true}, // closed
	} {
		if got := protects(c.glob, c.name); got != c.want {
			t.Errorf("%s over %s: %v", c.glob, c.name, got)
		}
	}
}

func TestCheckGlob(t *testing.T) {
	for glob, ok := range map[string]bool{"ci/**": true, "a[": false, "": false, "/": false, "{a": false, "[a-z]*": true} {
		if err := CheckGlob(glob); (err == nil) != ok {
			t.Errorf("%q: %v", glob, err)
		}
	}
}

func TestProtected(t *testing.T) {
	before := files{"ci/a.sh": "a\n", "ci/b.sh": "b\n", "src/x.go": "x\n"}
	for name, c := range map[string]struct {
		change files
		want   string
	}{
		"none of them": {files{"src/x.go": "y\n"}, ""},
		"one changed":  {files{"ci/a.sh": "x\n"}, "protected paths were changed: ci/a.sh"},
		"one added":    {files{"ci/c.sh": "x\n"}, "protected paths were changed: ci/c.sh"},
		"moved away":   {files{"ci/a.sh": gone, "src/a.sh": "a\n"}, "protected paths were changed: ci/a.sh"},
		"a mode":       {files{"ci/a.sh": gone, "ci/a.sh*": "a\n"}, "protected paths were changed: ci/a.sh"},
		"made a link":  {files{"ci/a.sh": gone, "ci/a.sh@": "../src/x.go"}, "protected paths were changed: ci/a.sh"},
		"a nasty name": {files{"ci/x\n\x1b[31my": "x\n"}, `protected paths were changed: "ci/x\n\x1b[31my"`},
		"more than one": {files{"ci/1": "", "ci/2": "", "ci/3": "", "ci/4": "", "ci/5": "", "ci/6": "", "ci/7": ""},
			"protected paths were changed: ci/1, ci/2, ci/3, ci/4, ci/5 and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			v := run(t, &Protected{Globs: []string{"docs/**", "ci/**"}, Changes: between(t, before, before.with(c.change))},
				judged())
			if v.Pass != (c.want == "") || v.Reason != c.want {
				t.Errorf("pass %v, %q; want %q", v.Pass, v.Reason, c.want)
			}
			if !v.Pass && !strings.Contains(v.PromptText, "Put them back as they were") {
				t.Errorf("tell = %q", v.PromptText)
			}
		})
	}
}

// TestProtectedInAHugeChange: what a patch no longer shows is protected none the less.
func TestProtectedInAHugeChange(t *testing.T) {
	after := files{"aaa.txt": strings.Repeat("x", diffscan.PatchBytes+1), "ci/a.sh": "x\n"}
	for i := range 10_000 {
		after[fmt.Sprintf("many/%d", i)] = "x"
	}
	c := given("diff --git a/aaa.txt b/aaa.txt\nnew file mode 100644\n--- /dev/null\n+++ b/aaa.txt\n@@ -0,0 +1 @@\n+"+
		after["aaa.txt"], nil, after)
	if v := run(t, &Protected{Globs: []string{"ci/**"}, Changes: c}, judged()); v.Pass ||
		len(v.Findings) > loop.MaxFindings {
		t.Errorf("verdict = %+v", v)
	}
}
