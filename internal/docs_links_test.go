package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentsLinkToFiles: what a relative link names is there, also the heading in it.
func TestDocumentsLinkToFiles(t *testing.T) {
	known := map[string][]string{} // headings of documents
	for _, file := range documents {
		for _, link := range links(document(t, file)) {
			name, heading, _ := strings.Cut(link, "#")
			to := file
			if name != "" {
				to = filepath.Join(filepath.Dir(file), name)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to nothing: %v", file, err)
				continue
			}
			if known[to] == nil && heading != "" {
				known[to] = headings(document(t, to))
			}
			if heading != "" && !slices.Contains(known[to], heading) {
				t.Errorf("%s links to %s, and there is no such heading", file, link)
			}
		}
	}
}

// links are the relative links of a document, but for those in what it shows.
func links(text string) (all []string) {
	for _, match := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(withoutExamples(text), -1) {
		all = append(all, match[1])
	}
	return all
}

// headings are those of a document as GitHub names them in links.
func headings(text string) (all []string) {
	for _, match := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(withoutExamples(text), -1) {
		all = append(all, regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(match[1]), ""))
		all[len(all)-1] = strings.ReplaceAll(all[len(all)-1], " ", "-")
	}
	return all
}

func withoutExamples(text string) string {
	text = regexp.MustCompile("(?ms)^````.*?^````$").ReplaceAllString(text, "")
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
}
