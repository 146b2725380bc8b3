// Package plan holds the rules of a plan, the files that it starts with, and the prompts for an agent that writes one.
package plan

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/safetext"
)

//go:embed templates
var templates embed.FS

func template(name string) string {
	text, err := fs.ReadFile(templates, "templates/"+name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// Prompt is the prompt of each iteration, which a project may change. Variables are in it, such as $RALPH_ITERATION.
func Prompt() string { return template("prompt.md") }

// PRD is the scaffold of the requirements.
func PRD(name string) string {
	return strings.ReplaceAll(template("prd-template.md"), "{{PROJECT_NAME}}", safetext.OneLine(name))
}

// Progress is the beginning of the log of iterations. date is as people write it: "2026-01-15".
func Progress(date, name string) string {
	return strings.NewReplacer("{{DATE}}", date, "{{PROJECT_NAME}}",
		safetext.OneLine(name)).Replace(template("progress-template.md"))
}

// Tasks is the scaffold of the stories, with what is known of the project; an empty branch leaves the template's.
func Tasks(project, branch string) string {
	text := strings.Replace(template("tasks-template.json"), `"project": ""`, `"project": `+asJSON(project), 1)
	if branch != "" {
		text = strings.Replace(text, `"`+TemplateBranch+`"`, asJSON(branch), 1)
	}
	return text
}

// TemplateBranch is the branch in the template, which no one has named.
const TemplateBranch = "ralph/feature-name"

// Untouched reports whether a plan's file is still the template: its only story says nothing.
func Untouched(content []byte) bool {
	var of struct {
		UserStories []struct {
			Title              string          `json:"title"`
			Description        string          `json:"description"`
			AcceptanceCriteria json.RawMessage `json:"acceptanceCriteria"`
		} `json:"userStories"`
	}
	if json.Unmarshal(content, &of) != nil || len(of.UserStories) != 1 {
		return false
	}
	s := of.UserStories[0]
	return s.Title == "" && s.Description == "" && string(bytes.Join(bytes.Fields(s.AcceptanceCriteria), nil)) == "[]"
}

// Named is what a plan's file says of the plan itself; nothing of what cannot be read.
func Named(content []byte) (project, branch, description string) {
	var of struct{ Project, BranchName, Description string }
	if json.Unmarshal(content, &of) != nil {
		return "", "", ""
	}
	return of.Project, of.BranchName, of.Description
}

var (
	comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?(-->|$)`) })
	heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ {0,3}#{1,6}( .*)?$`) })
	row     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *\|[ |:-]*$`) })
)

// Unwritten reports whether a PRD says nothing yet: it is empty, or headings, comments and empty tables.
func Unwritten(prd string) bool {
	text := comment().ReplaceAllString(strings.ReplaceAll(prd, "\r\n", "\n"), "")
	text = heading().ReplaceAllString(text, "")
	for line := range strings.Lines(template("prd-template.md")) { // the heads of its tables
		if strings.HasPrefix(line, "|") {
			text = strings.ReplaceAll(text, line, "")
		}
	}
	return strings.TrimSpace(row().ReplaceAllString(text, "")) == ""
}

// Derive is the beginning of the prompt for an agent that derives a plan: its role.
func Derive() string { return template("derive.md") }

// Derivation are the rules for stories.
func Derivation() string { return template("derivation.md") }

// Answer is the form of what it answers.
func Answer() string { return template("answer.md") }

// Skill is the skill ralph-plan for a coding agent at whose terminal a person sits.
func Skill() string {
	return strings.NewReplacer("{{DERIVATION}}", template("derivation.md"), "{{TASKS}}",
		template("tasks-template.json")).Replace(template("skill.md"))
}

// Command is the slash command that calls the skill.
func Command() string { return template("command.md") }

// Plugin are the files of a plugin for Claude Code, by their names. The skill is included twice: in the documented
// place, and where current versions look for it.
func Plugin() map[string]string {
	return map[string]string{
		".claude-plugin/plugin.json":      template("plugin/plugin.json"),
		".claude-plugin/marketplace.json": template("plugin/marketplace.json"),
		"hooks/hooks.json":                template("plugin/hooks.json"),
		"skills/ralph-plan.md":            Skill(),
		"skills/ralph-plan/SKILL.md":      Skill(),
		"templates/prompt.md":             Prompt(),
		"templates/prd-template.md":       template("prd-template.md"),
		"templates/tasks-template.json":   template("tasks-template.json"),
		"templates/progress-template.md":  template("progress-template.md"),
	}
}

// Names lists the names of files, sorted.
func Names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

// Ignoring adds a line to a .gitignore, unless it is there. Line ends stay as they are, and the last line gets one.
func Ignoring(content []byte, line string) (changed []byte, added bool) {
	for have := range bytes.Lines(content) {
		if name := string(bytes.TrimSpace(have)); name == line || name == "/"+line {
			return content, false
		}
	}
	end := "\n"
	if bytes.Contains(content, []byte("\r\n")) {
		end = "\r\n"
	}
	changed = slices.Clone(content)
	if len(changed) > 0 && changed[len(changed)-1] != '\n' {
		changed = append(changed, end...)
	}
	return append(changed, line+end...), true
}

// asJSON is a text as JSON.
func asJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // into memory
	return strings.TrimSpace(b.String())
}
