package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
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
	s = strings.ReplaceAll(wording.Colours.ReplaceAllString(s, ""), "\r\n", "\n")
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

// mood is how a state is to be taken.
func mood(state string) string {
	switch state {
	case Running:
		return "busy"
	case Queued, Waiting, Dispatched, string(loop.Interrupted), string(loop.Refused):
		return "wait"
	case string(loop.Done):
		return "good"
	}
	return "bad"
}

// stateWord is a state in a word or two.
func stateWord(state string) string {
	switch loop.Outcome(state) {
	case loop.Capped:
		return "Out of iterations"
	case loop.Timeout:
		return "Out of time"
	case loop.Budget:
		return "Out of budget"
	case loop.Invalid:
		return "Cannot run"
	}
	return safetext.UpperFirst(brief(30, state))
}

// frame is what stands around every page.
type frame struct {
	Title, Page string
	Who         string // login
	Guest       bool
	Operator    bool
	Alone       bool
	Version     string
	Now         time.Time
	Body        any
}

func (a *asked) show(page, title string, body any) error {
	return a.showAs(http.StatusOK, page, title, body)
}

// showAs writes a page, which is made whole before its first byte is sent.
func (a *asked) showAs(status int, page, title string, body any) error {
	f := frame{Title: title, Page: page, Who: a.who.Login, Guest: a.who.Guest, Operator: a.operator, Alone: a.alone != nil,
		Version: a.Version, Now: a.Clock(), Body: body}
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, page, f); err != nil {
		return fmt.Errorf("writing the page %s: %w", page, err)
	}
	a.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	a.w.WriteHeader(status)
	_, _ = a.w.Write(b.Bytes()) // whoever hangs up does not want it
	return nil
}

// runPath is the address of a run's page.
func (s *Server) runPath(id string) string { return "/runs/" + url.PathEscape(id) }

// github is an address on GitHub below a repository; "" where it cannot be one.
func (s *Server) github(parts ...string) string {
	for i, p := range parts {
		if p == "" {
			return ""
		}
		if i > 0 {
			parts[i] = url.PathEscape(p)
		}
	}
	return wording.Linkable(s.GitHub + "/" + strings.Join(parts, "/"))
}

//go:embed static
var staticFiles embed.FS

// files are what pages load, by name. Their addresses have a part of their sum, so that browsers may keep them for
// good.
var files = sync.OnceValue(func() map[string]file {
	all := map[string]file{}
	add := func(name, kind string, content []byte) {
		sum := sha256.Sum256(content)
		all[name] = file{kind, hex.EncodeToString(sum[:6]), content}
	}
	for name, kind := range map[string]string{"htmx.min.js": script, "hx-sse.min.js": script, "page.js": script,
		"web.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"} {
		content, err := fs.ReadFile(staticFiles, "static/"+name)
		if err != nil { // it is built in
			panic(err)
		}
		add(name, kind, content)
	}
	add("report.css", "text/css; charset=utf-8", []byte(html.Looks()))
	return all
})

const script = "text/javascript; charset=utf-8"

type file struct {
	kind, sum string
	content   []byte
}

// address is where a page finds a file.
func address(name string) string { return "/static/" + name + "?" + files()[name].sum }

func (a *asked) static() error {
	f, ok := files()[a.r.PathValue("file")]
	if !ok {
		return errHidden
	}
	h := a.w.Header()
	h.Set("Content-Type", f.kind)
	if a.r.URL.RawQuery == f.sum {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = a.w.Write(f.content) // whoever hangs up does not want it
	return nil
}
