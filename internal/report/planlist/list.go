package planlist

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// listHeading is the heading that the list of stories is below.
const listHeading = "#### Stories"

// planList shows the stories as the list that people edit, and that ReadPlan reads. Nothing in it is cut: what is not
// there is not run.
func planList(v report.View, plan plan.Plan) string {
	var b strings.Builder
	for _, st := range plan.Stories {
		b.WriteString(listStory(v, st))
	}
	return b.String()
}

// listStory is one story: its title with what it needs, then its description, then what it must fulfil.
func listStory(v report.View, st plan.Story) string {
	var b strings.Builder
	title := inertWords(v, st.Title)
	if needsTail.MatchString(title) { // the title's own words
		at := strings.LastIndex(title, "(")
		title = title[:at] + `\` + title[at:]
	}
	b.WriteString("- [ ] **" + listID(v, st.ID) + ":** " + title)
	if len(st.DependsOn) > 0 {
		var ids []string
		for _, id := range st.DependsOn {
			ids = append(ids, listID(v, id))
		}
		b.WriteString(" (needs " + strings.Join(ids, ", ") + ")")
	}
	b.WriteString("\n")
	for _, line := range descriptionLines(v, st.Description) {
		b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
	for _, c := range st.AcceptanceCriteria {
		if c = inertWords(v, c); c != "" {
			b.WriteString("  - " + c + "\n")
		}
	}
	return b.String()
}

// inertWords is foreign text as ordinary words on one line, all of it. A backtick that begins no code is an apostrophe,
// since beside other code it might begin some.
func inertWords(v report.View, s string) string {
	shown := wording.Inert(safetext.OneLine(v.Clean(s)), v.OwnPhrase())
	var b strings.Builder
	for i := 0; i < len(shown); {
		n := 1
		switch run := wording.Leading(shown[i:], '`'); {
		case strings.HasPrefix(shown[i:], "\\`"):
			b.WriteByte('\'')
			i += 2
			continue
		case shown[i] == '\\':
			n = 2
		case run > 0:
			content, _, _ := wording.CutRun(shown[i+run:], run)
			n = 2*run + len(content)
		}
		b.WriteString(shown[i:min(i+n, len(shown))])
		i += n
	}
	return b.String()
}

// descriptionLines keeps the lines and the paragraphs of a text. A sign that people use as a bullet becomes one of
// Markdown's, which can be escaped.
func descriptionLines(v report.View, s string) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(v.Clean(s)), "\n") {
		line = safetext.OneLine(line)
		for r := []rune(line); len(r) > 0 && strings.ContainsRune(typedBullets, r[0]); r = []rune(line) {
			line = safetext.OneLine("- " + strings.TrimLeft(string(r[1:]), typedBullets))
		}
		if line = inertWords(v, line); line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// listID is a story's id as the list shows it: as code when GitHub would make a link of it.
func listID(v report.View, id string) string {
	if id = safetext.OneLine(v.Clean(id)); wording.Acting.MatchString(id) || strings.HasPrefix(id, v.OwnPhrase()) {
		return safetext.Code(id)
	}
	return id
}

// listedPlan is a plan as its list tells it, which is the one that people approve: stories in the order of their
// priorities, numbered by it, and texts as they can be read. ok is false when the list would not tell it.
func listedPlan(v report.View, p plan.Plan) (listed plan.Plan, ok bool) {
	stories := slices.Clone(p.Stories)
	slices.SortStableFunc(stories, func(a, b plan.Story) int { return cmp.Compare(a.Priority, b.Priority) })
	for i := range stories {
		stories[i].Notes = v.Clean(stories[i].Notes)
	}
	p.Project, p.Description, p.Stories = v.Clean(p.Project), v.Clean(p.Description), stories
	for range 4 { // what becomes code is code then
		list := planList(v, p)
		read := newListReader(p)
		read.read(strings.Split(listHeading+"\n\n"+list+"\n#### End\n", "\n"))
		p = read.plan()
		if len(read.problems) > 0 || len(p.Stories) != len(stories) {
			return p, false
		}
		if ok = planList(v, p) == list; ok {
			break
		}
	}
	return p, ok
}

// changes says what an edited list changed of the plan that ralph wrote, an item for each story; empty when nothing.
func changes(before, after plan.Plan) []string {
	var out []string
	kept := func(p, other plan.Plan) (ids []string) {
		for _, s := range p.Stories {
			if other.Story(s.ID) != nil {
				ids = append(ids, s.ID)
			}
		}
		return ids
	}
	for _, s := range after.Stories {
		was := before.Story(s.ID)
		if was == nil {
			out = append(out, fmt.Sprintf("new: %s %s", s.ID, safetext.Shorten(s.Title, 100)))
			continue
		}
		var what []string
		for _, c := range []struct {
			changed bool
			name    string
		}{
			{was.Title != s.Title, "title"}, {was.Description != s.Description, "description"},
			{!slices.Equal(was.AcceptanceCriteria, s.AcceptanceCriteria), "criteria"},
			{!slices.Equal(was.DependsOn, s.DependsOn), "what it needs"},
		} {
			if c.changed {
				what = append(what, c.name)
			}
		}
		if len(what) > 0 {
			out = append(out, fmt.Sprintf("changed: %s (%s)", s.ID, strings.Join(what, ", ")))
		}
	}
	for _, s := range before.Stories {
		if after.Story(s.ID) == nil {
			out = append(out, fmt.Sprintf("left out: %s %s", s.ID, safetext.Shorten(s.Title, 100)))
		}
	}
	if now := kept(after, before); !slices.Equal(kept(before, after), now) {
		out = append(out, "new order: "+safetext.Shorten(strings.Join(now, ", "), 300))
	}
	return out
}
