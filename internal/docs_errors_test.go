package internal_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// messageAreas are the parts of the site's page of messages: the packages that report them, and what to read.
var messageAreas = []struct {
	title, more string
	packages    []string
}{
	{"Settings and inputs", "[settings](settings.md), [inputs](action.md)", []string{"internal/config"}},
	{"The command line", "[commands and flags](cli.md)", []string{"cmd/ralph", "internal/local", "internal/session",
		"internal/supervise", "internal/agenthook", "internal/hook", "internal/cleanup"}},
	{"Tasks and issues", "[tasks](tasks.md)", []string{"internal/task", "internal/event"}},
	{"Plans", "[plans](plans.md)", []string{"internal/plan", "internal/planrun", "internal/derive"}},
	{"Checks", "[checks](checks.md), [detection](internals/detection.md)", []string{"internal/check", "internal/engine",
		"internal/regex", "internal/prompt"}},
	{"Agents", "[agents](agents.md)", []string{"internal/agent", "internal/gateway"}},
	{"Sandbox and processes", "[sandbox](sandbox.md), [limits](limits.md)", []string{"internal/proc"}},
	{"Git and files", "[locks and journals](internals/journal.md)", []string{"internal/git", "internal/files",
		"internal/journal", "internal/lease", "internal/bisect"}},
	{"GitHub", "[GitHub](github.md), [commands](commands.md)", []string{"internal/github", "internal/bot",
		"internal/doctor", "internal/actions", "internal/report", "internal/notify"}},
	{"ralph serve", "[organization server](app.md)", []string{"internal/serve", "internal/store", "internal/queue",
		"internal/work", "internal/launch", "internal/web"}},
}

const messagesIntro = `# Messages

If settings, input or environment are wrong, ralph reports where, what it found, and what to do, and exits with code 2. A
request on GitHub without permission is refused with a reason. This page lists these messages; ` + "`…`" + ` stands for a value.
[Troubleshooting](troubleshooting.md) has outcomes and exit codes.
`

// TestMessagesAreListed: every message has an area and an anchor that no other has. RALPH_UPDATE_MESSAGES=1 writes the
// page of the site, which is not committed.
func TestMessagesAreListed(t *testing.T) {
	found := messages(t)
	list := strings.Builder{}
	list.WriteString(messagesIntro)
	anchors := map[string]bool{}
	for _, area := range messageAreas {
		texts := map[string]bool{}
		for dir, of := range found {
			if slices.ContainsFunc(area.packages, func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") }) {
				maps.Copy(texts, of)
				delete(found, dir)
			}
		}
		for _, link := range links(area.more) {
			if _, err := os.Stat("../docs/" + link); err != nil {
				t.Error(err)
			}
		}
		fmt.Fprintf(&list, "\n## %s\n\nMore: %s.\n\n", area.title, area.more)
		for _, text := range slices.Sorted(maps.Keys(texts)) {
			name := invalid.Anchor(text)
			if anchors[name] {
				t.Errorf("two messages start with the same words and get the same anchor, %s: reword one of them", name)
			}
			anchors[name] = true
			fmt.Fprintf(&list, "- <a id=\"%s\"></a>%s\n", name, inCode(text))
		}
	}
	if len(found) > 0 {
		t.Errorf("no area has the messages of %q", slices.Sorted(maps.Keys(found)))
	}
	if len(anchors) < 100 {
		t.Errorf("%d messages were found", len(anchors))
	}
	if os.Getenv("RALPH_UPDATE_MESSAGES") != "" {
		noError(t, os.WriteFile("../docs/errors.md", []byte(list.String()), 0o600))
	}
}

// messages are the texts of mistakes and refusals by package.
func messages(t *testing.T) map[string]map[string]bool {
	t.Helper()
	found := map[string]map[string]bool{}
	for _, s := range sources(t) {
		if s.room == "fake" {
			continue
		}
		dir := filepath.Dir(s.path)
		ast.Inspect(s.file, func(n ast.Node) bool {
			if text := said(messageOf(dir, n)); text != "" {
				if found[dir] == nil {
					found[dir] = map[string]bool{}
				}
				found[dir][text] = true
			}
			return true
		})
	}
	return found
}

var (
	blank     = regexp.MustCompile(`%[-+# 0-9.\[\]*]*[a-zA-Z]`)
	plainWord = regexp.MustCompile(`[a-z]{2,}`)
)

// mistakes are the functions whose texts say what is wrong, by package; those of "" are everybody's.
var mistakes = map[string][]string{
	"":                {"invalid.Errorf"},
	"internal/config": {"wrong"},
	"internal/task":   {"d.wrong", "p.add", "fmt.Errorf"},
}

// messageOf is the text of a call of one of the mistakes, or the reason of a refusal; nil anything else.
func messageOf(dir string, n ast.Node) ast.Expr {
	if field, ok := n.(*ast.KeyValueExpr); ok && dir == "internal/event" {
		if key, ok := field.Key.(*ast.Ident); !ok || key.Name != "Reason" {
			return nil
		}
		if call, ok := field.Value.(*ast.CallExpr); ok && len(call.Args) > 0 {
			return call.Args[0]
		}
		return field.Value
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || !slices.Contains(slices.Concat(mistakes[""], mistakes[dir]), types.ExprString(call.Fun)) {
		return nil
	}
	for _, argument := range call.Args {
		if len(plainWord.FindAllString(literal(argument), -1)) > 1 {
			return argument
		}
	}
	return nil
}

// said is a text with an ellipsis for what is filled in; "" one that has no anchor.
func said(e ast.Expr) string {
	if e == nil {
		return ""
	}
	text := strings.ReplaceAll(blank.ReplaceAllString(literal(e), "…"), "%%", "%")
	if invalid.Anchor(text) == "" {
		return ""
	}
	return text
}

// literal is a text that is written out, in several parts perhaps; of what is not, "…".
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return "…"
}

// inCode shows a text as it is printed.
func inCode(text string) string {
	text = strings.ReplaceAll(text, "\n", " ")
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}
