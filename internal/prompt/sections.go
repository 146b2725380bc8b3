package prompt

import (
	"embed"
	"strings"
	"sync"
	"text/template"
)

// The texts of sections that say how to end a turn. No template of a repository replaces them.
//
//go:embed sections/*.md
var sectionFiles embed.FS

var sections = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").ParseFS(sectionFiles, "sections/*.md"))
})

// section writes one of them, by its file's name.
func section(name string, facts any) string {
	var b strings.Builder
	if err := sections().ExecuteTemplate(&b, name, facts); err != nil {
		panic(err) // the file is wrong
	}
	return strings.TrimSuffix(b.String(), "\n")
}
