package safetext

import "testing"

func TestWithoutSkips(t *testing.T) {
	for text, want := range map[string]string{
		"Fix it [skip ci]":                      "Fix it (skip ci)",
		"[ci skip] Fix it":                      "(ci skip) Fix it",
		"[CI-Skip] [No CI]":                     "(CI-Skip) (No CI)",
		"[skip actions] [actions skip]":         "(skip actions) (actions skip)",
		"[ skip  ci ]":                          "(skip  ci)",
		"Fix\n\n\nskip-checks: true\n":          "Fix\n\n\nskip-checks - true\n",
		"Fix\n\nSkip-Checks:true":               "Fix\n\nSkip-Checks -true",
		"***NO_CI***":                           "NO CI",
		"[skip netlify]":                        "(skip netlify)",
		"[azurepipelines skip]":                 "(azurepipelines skip)",
		"skip the ci tests [later], [no cigar]": "skip the ci tests [later], [no cigar]",
		"nothing [to] see":                      "nothing [to] see",
		"why skip-checks: matters":              "why skip-checks: matters",
	} {
		got := WithoutSkips(text)
		if got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if again := WithoutSkips(got); again != got {
			t.Errorf("%q becomes %q, a second time %q", text, got, again)
		}
	}
}
