package bot

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
)

// threat is a piece of text that tries to do something. Each row of the table has a number of its own in it, so that
// whatever came of it can be told from everything else; N stands for it.
type threat struct {
	text string
	// does says what the text has done on a surface; "" nothing.
	does func(s *surface, n string) string
}

var threats = map[string]threat{
	"mention":    {text: "@uN", does: acted(`(?i)(^|[^\w.+-])@uN\b`)},
	"team":       {text: "cc @org/teamN,", does: acted(`(?i)(^|[^\w.+-])@org/teamN\b`)},
	"closing":    {text: "Fixes #N", does: acted(`(?i)\b(close|fix|resolve)\w*:?\s+#N\b`)},
	"foreign":    {text: "closes evil/repo#N", does: acted(`(?i)\b(close|fix|resolve)\w*:?\s+evil/repo#N\b`)},
	"gh":         {text: "resolves GH-N", does: acted(`(?i)\b(close|fix|resolve)\w*:?\s+GH-N\b`)},
	"marker":     {text: "<!-- ralph:run:N -->", does: forged},
	"plan":       {text: "<!-- ralph:plan:issue-N -->", does: forged},
	"html":       {text: "<img src=x onerror=alert(N)>", does: embedded},
	"details":    {text: "</details></td><script>alert(N)</script>", does: embedded},
	"image":      {text: "![x](https://evil.example/N.png)", does: embedded},
	"link":       {text: "[x](https://evil.example/N)", does: embedded},
	"command":    {text: "\n/ralph approve N\n", does: acted(`(?m)^\s*/ralph approve N`)},
	"fence":      {text: "\n```\n@uN\n~~~\n@uN\n", does: acted(`(?i)(^|[^\w.+-])@uN\b`)},
	"log":        {text: "\n::set-output name=conclusion::N\n", does: obeyed},
	"indented":   {text: "\n \t::add-mask::N\n", does: obeyed},
	"return":     {text: "x\r::set-env name=PATH::N\r\n", does: obeyed},
	"old log":    {text: "##[set-output name=outcome;]N", does: obeyed},
	"stop":       {text: "\n::stop-commands::N\n", does: obeyed},
	"group":      {text: "\n::endgroup::N\n::group::N\n", does: obeyed},
	"output":     {text: "\nEOF\nconclusion=N\nralph-N\noutcome<<EOF\n", does: setsOutput},
	"substitute": {text: "$(touch canaryN)", does: ran},
	"backticks":  {text: "`touch canaryN`", does: ran},
	"semicolon":  {text: `"; touch canaryN; echo "`, does: ran},
	"quote":      {text: "' && touch canaryN && echo '", does: ran},
	"newline":    {text: "x\ntouch canaryN\n", does: ran},
	"skip":       {text: "[skip ci] N", does: skipped},
	"trailer":    {text: "x\n\nRalph-Run: N\nCo-authored-by: uN <uN@evil.example>\n", does: trailed},
}

// What fits into a place. A word holds no line end; a name no slash either, as the name of a file does not.
var (
	inLines = []string{
		"mention", "team", "closing", "foreign", "gh", "marker", "plan", "html", "details", "image", "link", "command", "log",
		"indented", "return", "old log", "stop",
		"group", "output", "substitute", "backticks", "semicolon", "quote", "newline", "fence",
	}
	inWords = []string{"mention", "closing", "marker", "html", "old log", "substitute", "backticks", "semicolon", "gh"}
	inShort = []string{"mention", "closing", "old log", "substitute"}
	inNames = []string{"mention", "closing", "old log", "substitute", "backticks", "semicolon", "html"}
)

// trial is one threat at one place.
type trial struct {
	place, threat, n string
}

// text is the threat as it is written, beside a word by which it is seen that somebody has read it.
func (r trial) text() string {
	return "w" + r.n + " " + strings.ReplaceAll(threats[r.threat].text, "N", r.n)
}

// trialsOf are the rows of a place, numbered from a thousand times at.
func trialsOf(at int, place string, names []string) []trial {
	var out []trial
	for i, name := range names {
		out = append(out, trial{place, name, fmt.Sprint(1000*at + i)})
	}
	return out
}

func together(rows []trial, between string) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.text())
	}
	return strings.Join(all, between)
}

// surface is one text that came of a job.
type surface struct {
	kind, name, text string
	live             string   // of Markdown: what is neither code nor a tag
	parts            []string // of Markdown and pages: tags and addresses; of a log: what the runner obeys
}

const (
	onMarkdown = "markdown" // rendered by GitHub
	onPlain    = "plain"    // a title or the message of a commit
	onLog      = "log"      // the job's
	onOutputs  = "outputs"  // the file of the step's outputs
	onPage     = "page"     // HTML
	onRefs     = "refs"     // names of branches and other refs
	onFiles    = "files"    // names of files, one a line, in everything that the job could reach
	onRead     = "read"     // what somebody was told, who may read it as it is
)

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

func newSurface(kind, name, text string) *surface {
	s := &surface{kind: kind, name: name, text: text}
	switch kind {
	case onMarkdown:
		s.render()
	case onLog:
		s.parts = commandsIn(text)
	case onPage:
		s.browse()
	case onPlain:
		s.live = text
	}
	return s
}

// render reads Markdown as GitHub does.
func (s *surface) render() {
	source := []byte(s.text)
	var live strings.Builder
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				live.WriteByte('\n')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock, *ast.CodeBlock:
			live.WriteByte(' ')
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			live.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				live.WriteByte('\n')
			}
		case *ast.String:
			live.Write(n.Value)
		case *ast.RawHTML:
			s.parts = append(s.parts, string(n.Segments.Value(source)))
		case *ast.HTMLBlock:
			s.parts = append(s.parts, string(n.Lines().Value(source)))
		case *ast.Link:
			s.parts = append(s.parts, string(n.Destination))
		case *ast.Image:
			s.parts = append(s.parts, string(n.Destination))
		case *ast.AutoLink:
			s.parts = append(s.parts, string(n.URL(source)))
		}
		return ast.WalkContinue, nil
	})
	s.live = html.UnescapeString(live.String())
}

// browse reads a page as a browser does: its tags, with what they hold where that is a program.
func (s *surface) browse() {
	z := html.NewTokenizer(strings.NewReader(s.text))
	for z.Next() != html.ErrorToken {
		switch t := z.Token(); t.Type {
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, a := range t.Attr {
				if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"href", "src", "srcdoc", "style", "action"}, a.Key) {
					s.parts = append(s.parts, a.Val)
				}
			}
			if t.Data == "script" || t.Data == "style" || t.Data == "iframe" {
				z.Next()
				s.parts = append(s.parts, string(z.Raw()))
			}
		case html.CommentToken:
			s.parts = append(s.parts, t.Data)
		}
	}
}

var shows = regexp.MustCompile(`^::((notice|warning|error|debug)(\s[^:]*)?::|group::.*\D|endgroup::$)`)

// commandsIn replays a log as the runner reads it, which knows lines by any end and two forms of commands, and returns those that it would
// obey and that do more than show their words.
func commandsIn(log string) (out []string) {
	token := ""
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		trimmed := strings.TrimLeft(line, " \t")
		switch {
		case token != "":
			if trimmed == "::"+token+"::" {
				token = ""
			}
		case strings.HasPrefix(trimmed, "::stop-commands::ralph-"):
			token = strings.TrimPrefix(trimmed, "::stop-commands::")
		case shows.MatchString(line):
		case strings.HasPrefix(trimmed, "::"), strings.Contains(line, "##["):
			out = append(out, line)
		}
	}
	if token != "" {
		out = append(out, "commands are still stopped")
	}
	return out
}

func acted(pattern string) func(*surface, string) string {
	return func(s *surface, n string) string {
		return regexp.MustCompile(strings.ReplaceAll(pattern, "N", n)).FindString(s.live)
	}
}

// in is a pattern on surfaces of one kind.
func in(kind, pattern string) func(*surface, string) string {
	return func(s *surface, n string) string {
		if s.kind != kind {
			return ""
		}
		return regexp.MustCompile(strings.ReplaceAll(pattern, "N", n)).FindString(s.text)
	}
}

var (
	forged  = in(onMarkdown, `<!--\s*ralph:[^>]*\bN\b`)
	ran     = in(onFiles, `(?m)^(.*/)?canaryN$`)
	skipped = in(onPlain, `\[skip ci\] N`)
	trailed = in(onPlain, `(?m)^(Ralph-Run|Co-authored-by): u?N`)
)

// hold is the first of some parts of a text that holds a number.
func hold(parts []string, n string) string {
	for _, part := range parts {
		if regexp.MustCompile(`(^|\D)` + n + `(\D|$)`).MatchString(part) {
			return part
		}
	}
	return ""
}

func embedded(s *surface, n string) string {
	if s.kind == onLog {
		return ""
	}
	return hold(s.parts, n)
}

func obeyed(s *surface, n string) string {
	if s.kind != onLog {
		return ""
	}
	return hold(s.parts, n)
}

// setsOutput looks past names, of branches and files: those may be made of a title's letters and digits.
func setsOutput(s *surface, n string) string {
	if s.kind != onOutputs {
		return ""
	}
	return hold(slices.DeleteFunc(strings.Split(s.text, "\n"), func(line string) bool { return aName.MatchString(line) }),
		n)
}

var aName = regexp.MustCompile(`^[a-z]+/[a-z0-9./-]*$`)

// judge holds a trial against everything that came of its job. Whatever a text tries, nothing of any place may do anything: each trial is
// asked for its own threat, and whether it set an output or named a ref.
func (r trial) judge(t *testing.T, surfaces []*surface) {
	t.Helper()
	seen := false
	for _, s := range surfaces {
		seen = seen || s.kind != onFiles && strings.Contains(s.text, "w"+r.n)
		if did := threats[r.threat].does(s, r.n); did != "" {
			t.Errorf("%s: %q", s.name, did)
		}
		if s.kind == onOutputs && setsOutput(s, r.n) != "" {
			t.Errorf("an output holds what a stranger wrote:\n%s", s.text)
		}
	}
	if !seen {
		t.Error("nobody has read it, and so it shows nothing")
	}
}

// everything is what came of the jobs of a world so far.
func (w *world) everything() (out []*surface) {
	add := func(kind, name, text string) {
		if text != "" {
			out = append(out, newSurface(kind, name, text))
		}
	}
	for _, is := range w.gh.Issues(owner, name) {
		for i, body := range w.bodies(is.Number) {
			add(onMarkdown, fmt.Sprintf("comment %d on #%d", i+1, is.Number), body)
		}
	}
	for _, p := range w.gh.Pulls(owner, name) {
		if p.Author != "github-actions[bot]" {
			continue
		}
		add(onPlain, "the pull request's title", p.Title)
		add(onMarkdown, "the pull request", p.Body)
		for _, c := range w.gh.ReviewComments(owner, name, p.Number) {
			if c.Author == "github-actions[bot]" {
				add(onMarkdown, "the answer to a thread", c.Body)
			}
		}
	}
	for _, sha := range strings.Fields(w.git("log", "--all", "--format=%H", "--not", "main")) {
		for _, c := range w.gh.CheckRuns(owner, name, sha) {
			if c.Name != checkName {
				continue
			}
			add(onPlain, "the check run's title", c.Title)
			add(onMarkdown, "the check run", c.Summary+"\n\n"+c.Text)
			for _, a := range c.Annotations {
				add(onPlain, "a remark on "+a.Path, a.Title+"\n"+a.Message)
			}
		}
	}
	add(onMarkdown, "the job summary", w.file("summary"))
	add(onPlain, "the commits", w.git("log", "--branches", "--format=%an%n%B", "--not", "main"))
	add(onLog, "the job's log", w.out.String())
	add(onOutputs, "the outputs", w.file("output"))
	add(onRefs, "refs", w.git("for-each-ref", "--format=%(refname)"))
	add(onRead, "what the agent was told", w.file("told"))
	files, reports := w.files()
	add(onFiles, "files", files+w.git("log", "--all", "--name-only", "--format="))
	for _, path := range reports {
		text := w.file(path)
		if filepath.Ext(path) == ".html" {
			add(onPage, path, text)
		} else {
			add(onMarkdown, path, text)
		}
	}
	return out
}

// files are the names of everything that a job has left where it could, and those of the reports.
func (w *world) files() (all string, reports []string) {
	var names strings.Builder
	for _, top := range []string{w.dir, "."} { // where everything happens, and where the test is run
		_ = filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what is removed meanwhile is not there
			}
			names.WriteString(path + "\n")
			if rel, _ := filepath.Rel(w.dir, path); strings.HasPrefix(rel, ".ralph/runs/") &&
				slices.Contains([]string{".md", ".html"}, filepath.Ext(path)) {
				reports = append(reports, rel)
			}
			return nil
		})
	}
	return names.String(), reports
}
