package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"sync"

	"github.com/ralph-loop/ralph/internal/report/html"
)

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
