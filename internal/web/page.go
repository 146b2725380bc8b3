package web

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

//go:embed pages
var pageFiles embed.FS

// pages are the templates of all pages, by name.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(words).ParseFS(pageFiles, "pages/*.html"))
})

// words are what templates call. Whatever is foreign goes through seen, brief or console; the template escapes it.
var words = template.FuncMap{
	"address": address, "brief": brief, "seen": seen, "segment": url.PathEscape,
	"stamp": stamp, "machine": machine, "dollars": wording.Dollars,
	"tokens": wording.Tokens, "count": safetext.Count,
	"mood": mood, "sign": func(state string) string { return signs[mood(state)] }, "stateWord": stateWord,
	"levelMood": func(level string) string { return levelMoods[level] },
	"levelSign": func(level string) string { return signs[levelMoods[level]] },
}

// redact takes out what looks like a credential. What comes here has been cleared of known ones before.
var redact = sync.OnceValue(func() func(string) string { return report.Redactor(nil) })

// seen is foreign text of which everything can be seen, in its lines.
func seen(s string) string {
	return redact()(wording.Bare(s))
}

// brief is the same in one line of at most most runes.
func brief(most int, s string) string {
	return safetext.Shorten(safetext.OneLine(seen(safetext.FirstBytes(s, 16*most))), most)
}

// lineRunes bounds the lines of what was printed.
const lineRunes = 2000

// console is what was printed: colors are dropped, and whatever else no one would see is written out.
func console(s string) string {
	s = strings.ReplaceAll(wording.Colors.ReplaceAllString(s, ""), "\r\n", "\n")
	var b strings.Builder
	for line := range strings.Lines(s) {
		text, ended := strings.CutSuffix(line, "\n")
		b.WriteString(safetext.Revealed(text))
		if ended {
			b.WriteByte('\n')
		}
	}
	return redact()(wording.LongLines(b.String(), lineRunes))
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// machine is a time for the attribute of a time element.
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

var signs = map[string]string{"good": "✓", "bad": "✗", "warn": "!", "wait": "–", "busy": "…"}

var levelMoods = map[string]string{"ok": "good", "warning": "warn", "error": "bad"}

var moods = map[string]string{Running: "busy", Queued: "wait", Waiting: "wait", Dispatched: "wait",
	string(loop.Interrupted): "wait", string(loop.Refused): "wait", string(loop.Done): "good"}

// mood is the color of a state.
func mood(state string) string { return cmp.Or(moods[state], "bad") }

var stateWords = map[string]string{string(loop.Capped): "Out of iterations", string(loop.Timeout): "Out of time",
	string(loop.Budget): "Out of budget", string(loop.Invalid): "Cannot run"}

// stateWord is a state in a word or two.
func stateWord(state string) string {
	return cmp.Or(stateWords[state], safetext.UpperFirst(brief(30, state)))
}

//go:embed static
var staticFiles embed.FS

// files are what pages load, by name.
var files = sync.OnceValue(func() map[string]file {
	all := map[string]file{"report.css": newFile(css, []byte(html.Looks()))}
	for name, kind := range map[string]string{"htmx.min.js": script, "hx-sse.min.js": script, "page.js": script,
		"web.css": css, "icon.svg": "image/svg+xml"} {
		content, err := staticFiles.ReadFile("static/" + name)
		if err != nil { // it is built in
			panic(err)
		}
		all[name] = newFile(kind, content)
	}
	return all
})

// file is what a page loads. Its address has a part of its sum, so that browsers may keep it for good.
type file struct {
	kind, sum string
	content   []byte
}

const script, css = "text/javascript; charset=utf-8", "text/css; charset=utf-8"

func newFile(kind string, content []byte) file {
	sum := sha256.Sum256(content)
	return file{kind, hex.EncodeToString(sum[:6]), content}
}

// address is where a page finds a file.
func address(name string) string { return "/static/" + name + "?" + files()[name].sum }
