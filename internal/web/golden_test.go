package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/ralph-loop/ralph/internal/fake/sample"
)

// TestPagesAsText holds what each page says, as somebody reads it who sees no looks.
func TestPagesAsText(t *testing.T) {
	s := open(t, nil)
	texts := map[string]string{}
	for name, c := range map[string]struct{ login, path string }{
		"now": {"alice", "/"}, "now-operator": {"olga", "/"}, "now-of-nobody": {"stranger", "/"}, "run": {"alice", "/runs/run-3"},
		"run-read": {"bob", "/runs/run-3"}, "run-done": {"alice", "/runs/run-1"}, "run-queued": {"alice", "/runs/run-4"},
		"run-hostile": {"bob", "/runs/run-6"}, "repositories": {"alice", "/repositories"},
		"repository": {"alice", "/repositories/acme/demo"}, "deliveries": {"alice", "/deliveries"},
		"deliveries-operator": {"olga", "/deliveries"}, "delivery": {"alice", "/deliveries/delivery-1"},
		"spend": {"alice", "/spend"}, "audit": {"olga", "/audit"}, "setup": {"olga", "/setup"}, "sign-in": {"", "/sign-in"},
		"not-found": {"alice", "/runs/run-9"}, "setup-code": {"", "/setup/code?code=abc"},
	} {
		_, page := s.asks(c.login, "GET", c.path, "", nil)
		texts[name+".txt"] = asText(t, page)
	}
	sample.Goldens(t, texts)
}

var blankLines = regexp.MustCompile(`\n\s*\n+`)

// asText is what is to be read on a page, with where links and forms lead.
func asText(t *testing.T, page string) string {
	t.Helper()
	root := must[*html.Node](t)(html.Parse(strings.NewReader(page)))
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if n.Type == html.ElementNode && (n.Data == "head" || n.Data == "script" || n.Data == "svg") {
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		for _, a := range n.Attr {
			if n.Data == "a" && a.Key == "href" || n.Data == "form" && a.Key == "action" {
				b.WriteString(" <" + a.Val + ">")
			}
		}
		if n.Data == "td" || n.Data == "dt" || n.Data == "li" {
			b.WriteByte('\n')
		}
	}
	walk(root)
	return strings.TrimSpace(blankLines.ReplaceAllString(b.String(), "\n")) + "\n"
}

// TestForeignFilesAreAsTheyCame: what is not ours is byte for byte what its README says.
func TestForeignFilesAreAsTheyCame(t *testing.T) {
	says := must[[]byte](t)(os.ReadFile("static/README.md"))
	for _, name := range []string{"htmx.min.js", "hx-sse.min.js"} {
		content := must[[]byte](t)(os.ReadFile(filepath.Join("static", name)))
		if sum := sha256.Sum256(content); !strings.Contains(string(says), hex.EncodeToString(sum[:])) {
			t.Errorf("%s is not the file that static/README.md tells of", name)
		}
	}
}
