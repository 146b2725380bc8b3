package task

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// From makes the task that a request asks for: the issue as it was at the trigger, without what hides in it. Its
// completion is what the issue says, also when a stranger wrote it: nothing of Commands may be run that settings do not
// name as well.
func From(req event.Request, facts event.Facts) (Task, error) {
	ev := req.Event
	if ev.Issue == nil {
		return FromPrompt(req.Prompt, ev.Sender.Login)
	}
	name := fmt.Sprintf("issue #%d", ev.Issue.Number)
	body, err := readable(name, ev.Issue.Body)
	if err != nil {
		return Task{}, err
	}
	said, spec, err := criteriaOf(name, ev.Issue.Body, body)
	if err != nil {
		return Task{}, err
	}
	t := Task{
		ID:     fmt.Sprintf("issue-%d", ev.Issue.Number),
		Title:  safetext.OneLine(safetext.Sanitise(ev.Issue.Title)),
		Spec:   safetext.Truncated(spec, maxSpec),
		Author: ev.Issue.Author.Login,
		Issue:  ev.Issue.Number,
		Asked:  ev.Sender.Login,
		Hint:   safetext.Truncated(safetext.Sanitise(req.Hint), maxComment),

		Completion: said,
	}
	if t.Title == "" && strings.TrimSpace(t.Spec) == "" && said == nil {
		return Task{}, fmt.Errorf("issue #%d has no visible title or text; write the request and ask again", ev.Issue.Number)
	}
	for _, c := range facts.Comments {
		if !facts.Reads(c.Author.Login, req.CommentsBy) || late(c, ev.At) || isCommand(c, ev) {
			continue
		}
		t.Comments = append(t.Comments, Comment{c.Author.Login, safetext.Truncated(safetext.Sanitise(c.Body), maxComment)})
	}
	if n := len(t.Comments); n > maxComments {
		t.Comments = t.Comments[n-maxComments:]
	}
	return t, nil
}

// FromPrompt makes a task of a bare prompt.
func FromPrompt(prompt, asked string) (Task, error) {
	text, err := readable("the prompt", prompt)
	if err != nil {
		return Task{}, err
	}
	if text = strings.TrimSpace(text); text == "" {
		return Task{}, fmt.Errorf("the prompt is empty; write the request")
	}
	title, _, _ := strings.Cut(text, "\n")
	return Task{ID: "prompt-" + safetext.Slug(title, 30), Title: safetext.Truncated(safetext.OneLine(title), 100),
		Spec: safetext.Truncated(text, maxSpec), Asked: asked}, nil
}

// FromFile makes a task of an issue file: a Markdown text whose first heading or first line is the title. name gives
// the id.
func FromFile(name, content string) (Task, error) {
	text, err := readable(name, content)
	if err != nil {
		return Task{}, err
	}
	if text = strings.TrimSpace(text); text == "" {
		return Task{}, fmt.Errorf("the issue file %s is empty; its first line is the title, the rest is the description",
			name)
	}
	first, rest, _ := strings.Cut(text, "\n")
	title := strings.TrimSpace(strings.TrimLeft(first, "# "))
	said, spec, err := criteriaOf(name, content, rest)
	if err != nil {
		return Task{}, err
	}
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	return Task{ID: safetext.Slug(base, 40), Title: safetext.Truncated(safetext.OneLine(title), 200),
		Spec: safetext.Truncated(strings.TrimSpace(spec), maxSpec), Completion: said}, nil
}

// readable is what can be seen of a text. One that is made to be unreadable is an error.
func readable(name, text string) (string, error) {
	clean := safetext.Sanitise(text)
	if clean == safetext.TooDeep {
		return "", fmt.Errorf("%s has more lists, quotes, links, tables or comments in each other than ralph reads; write it without them", name)
	}
	return clean, nil
}

// criteriaOf parts a text into its criteria and the rest. clean is a part of what was written, without what hides in
// it.
func criteriaOf(name, written, clean string) (*Completion, string, error) {
	return source{name: name, lineOffset: linesAbove(written, clean)}.criteria(clean)
}

var ralphFence = lazy("(?mi)^ {0,3}(?:`{3,}|~{3,})[ \t]*ralph\\b[^\n]*\n[^\n]*")

// linesAbove is how many lines were taken out of a text above its ralph block, so that a mistake in the block is named by the line that
// its author sees.
func linesAbove(written, clean string) int {
	block := ralphFence.FindStringIndex(clean)
	if block == nil {
		return 0
	}
	written = strings.ReplaceAll(written, "\r\n", "\n")
	if there := strings.Index(written, clean[block[0]:block[1]]); there >= 0 {
		return lineOf(written, there) - lineOf(clean, block[0])
	}
	return 0
}

func late(c event.Comment, trigger time.Time) bool {
	return !trigger.IsZero() && (c.CreatedAt.After(trigger) || c.UpdatedAt.After(trigger))
}

// isCommand leaves out the comment that asked; its words are the hint.
func isCommand(c event.Comment, ev event.Event) bool {
	return ev.Comment != nil && c.ID == ev.Comment.ID
}

// ParseFile reads a task file: YAML, or Markdown, by its name or, if that is not enough, by its content. Its error is
// one sentence a mistake: the file, line and column, the key, what was found and what is allowed. The text is a
// person's own: it may name commands.
func ParseFile(name string, content []byte) (Task, error) {
	s := source{name: name}
	text, err := s.readable(content)
	if err != nil {
		return Task{}, err
	}
	if isMarkdown(name, text) {
		return s.markdownTask(text)
	}
	form, d, err := s.form(text)
	if err != nil {
		return Task{}, err
	}
	return d.checked(form)
}

// What a task keeps of text that others wrote.
const (
	maxSpec     = 64 << 10
	maxComments = 20
	maxComment  = 4 << 10
)
