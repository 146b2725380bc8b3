package report

import (
	"testing"
)

// pagesOf are the pages that are looked at, here as text and with the tag e2e in a browser.
func pagesOf() map[string]Detail {
	return map[string]Detail{
		"html-done.html": sampleDetail(), "html-capped.html": {View: capped()}, "html-plan.html": {View: planCapped()}, "html-hostile.html": {View: hostile()},
	}
}

func TestGoldenHTML(t *testing.T) {
	for name, d := range pagesOf() {
		page, err := HTML(d)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, string(page))
	}
}
