package internal_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestStyle counts what docs/internals/style.md advises against, where people read: in the docs, in --help, in messages
// and in comments. The numbers only fall.
func TestStyle(t *testing.T) {
	places := map[string][]string{"docs": proseOfDocs(t)}
	for _, s := range sources(t) {
		readProse(s.file, places)
	}
	found := map[string]int{}
	example := map[string]string{}
	for _, rule := range styleRules(t) {
		for place, texts := range places {
			for _, text := range texts {
				for _, hit := range rule.pattern.FindAllString(text, -1) {
					found[rule.tier+" "+place]++
					example[rule.tier+" "+place] = rule.name + ": " + hit
				}
			}
		}
	}
	allowed := readCeilings(t)
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if found[key] > allowed.Style[key] {
			t.Errorf("%s: %d hits of docs/internals/style.md, at most %d, such as %q: write it in plain words",
				key, found[key], allowed.Style[key], example[key])
		}
	}
	if lowering() && !t.Failed() {
		allowed.Style = found
		writeCeilings(t, allowed)
	}
}

// A styleRule is a line of the guide's lint: a tier (E: an error, W: a warning), a name and what not to write.
type styleRule struct {
	tier, name string
	pattern    *regexp.Regexp
}

func styleRules(t *testing.T) (rules []styleRule) {
	t.Helper()
	_, rest, ok := strings.Cut(document(t, "../docs/internals/style.md"), "```lint\n")
	block, _, closed := strings.Cut(rest, "\n```")
	if !ok || !closed {
		t.Fatal("docs/internals/style.md has no block of lint")
	}
	for line := range strings.Lines(block) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) != 3 || fields[0] != "E" && fields[0] != "W" {
			t.Fatalf("docs/internals/style.md: %q is not a tier, a name and a pattern", line)
		}
		pattern, err := regexp.Compile(fields[2])
		noError(t, err)
		rules = append(rules, styleRule{fields[0], fields[1], pattern})
	}
	return rules
}

var (
	fence      = regexp.MustCompile("(?ms)^````.*?^````$|^[ \t]*```.*?^[ \t]*```[ \t]*$")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
	wrapped    = regexp.MustCompile(`([^\n])\n([^\n|#>*+0-9-])`)
)

// proseOfDocs returns the pages without code and targets of links, wrapped lines joined.
func proseOfDocs(t *testing.T) (pages []string) {
	t.Helper()
	files, err := filepath.Glob("../*.md")
	noError(t, err)
	for _, root := range []string{"../docs", "../examples"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "node_modules":
				return fs.SkipDir
			case strings.HasSuffix(path, ".md") && path != "../docs/errors.md" && path != "../docs/internals/style.md":
				files = append(files, path)
			}
			return nil
		})
		noError(t, err)
	}
	for _, file := range files {
		text := fence.ReplaceAllString(document(t, file), "")
		text = linkTarget.ReplaceAllString(inlineCode.ReplaceAllString(text, "`code`"), "]")
		pages = append(pages, wrapped.ReplaceAllString(text, "$1 $2"))
	}
	return pages
}

// readProse adds what people read of a Go file: its help, its messages (strings with a space) and its comments.
func readProse(file *ast.File, places map[string][]string) {
	for _, group := range file.Comments {
		places["comments"] = append(places["comments"], strings.Join(strings.Fields(group.Text()), " "))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				if help := reflect.StructTag(tag).Get("help"); help != "" {
					places["help"] = append(places["help"], help)
				}
				return false
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				if text := literal(n); strings.Contains(text, " ") {
					places["messages"] = append(places["messages"], text)
					return false
				}
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if text, _ := strconv.Unquote(n.Value); strings.Contains(text, " ") && !unread.MatchString(text) {
					places["messages"] = append(places["messages"], text)
				}
			}
		}
		return true
	})
}

// unread are texts that nobody reads: statements of SQL, and patterns.
var unread = regexp.MustCompile(`^\s*(?:(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH) |\(\?i\))`)
