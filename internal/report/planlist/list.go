package planlist

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// listHeading is the heading that the list of stories is below.
const listHeading = "#### Stories"

// planList shows the stories as the list that people edit, and that ReadPlan reads. Nothing in it is cut: only what it
// has is run.
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
		ids := safetext.Map(st.DependsOn, func(id string) string { return listID(v, id) })
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

// listedPlan is a plan as people read it in the list, which is the one that they approve: stories in the order of their
// priorities, numbered by it, and texts as they can be read. ok is false if reading the list gives another plan.
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

// closes reports whether a line ends a fence: at least as many of the same sign, and nothing else.
func closes(line, open string) bool {
	trimmed := strings.TrimRight(line, " \t")
	indent := wording.Leading(trimmed, ' ')
	rest := trimmed[indent:]
	return indent <= 3 && len(rest) >= len(open) && wording.Leading(rest, open[0]) == len(rest)
}

// typedBullets are what telephones and word processors make of the sign that begins an item.
const typedBullets = "•·‣◦–—"

var (
	listsBegin = regex.Lazy(`(?i)^ {0,3}#{1,6}[ \t]+stories[ \t]*:?[ \t]*#*$`)
	anyHeading = regex.Lazy(`^ {0,3}#{1,6}([ \t]|$)`)
	listItem   = regex.Lazy(`^(?:[-*+` + typedBullets + `]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[([ xX]?)\](?:[ \t]+|$))?`)
	otherItem  = regex.Lazy(`^(?:[-*+]|\d{1,9}[.)])[ \t]+\S`)
	rule       = regex.Lazy(`^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	boldID     = regex.Lazy(
		"^(?:\\*\\*|__)[ \t]*`?([A-Za-z0-9][A-Za-z0-9._–—‑-]{0,63}?)`?[ \t]*(:?)[ \t]*(?:\\*\\*|__)[ " +
			"\t]*(:?)[ \t]*")
	plainID   = regex.Lazy("^`?([A-Za-z0-9][A-Za-z0-9._–—‑-]{0,63}?)`?(?:[ \t]*:[ \t]*|[ \t]+|$)")
	usualID   = regex.Lazy(`(?i)^US-\d{1,9}$`)
	needsTail = regex.Lazy(`(?i)(?:^|[^\\])\(((?:needs|depends on):?[ \t]+([^()]+))\)$`)
	codeBlock = regex.Lazy("^[ \t]*(?:(`{3,})[^`]*|(~{3,}).*)$")
	openHTML  = regex.Lazy(`^<[A-Za-z/!?]`)
)

// listReader reads the list of stories in a comment line by line. It never guesses: a line that it cannot place is a
// problem, told with the line.
type listReader struct {
	before   plan.Plan // as ralph wrote it: what the list does not show is taken from there
	problems []string
	notes    []string

	stories []listedStory
	begun   bool // the heading was seen
	ended   bool
	blank   bool   // the line before was empty
	fence   string // that is open
	details int    // folded parts that are open
}

// listedStory is a story with the lines that it was read from.
type listedStory struct {
	plan.Story
	n         int    // of its first line
	line      string // that line
	indent    int
	hasID     bool
	needs     []string
	described []string
	inItem    bool // the newest text is a criterion's
}

func newListReader(before plan.Plan) *listReader { return &listReader{before: before} }

func (l *listReader) wrong(n int, line, format string, args ...any) {
	l.problems = append(l.problems,
		fmt.Sprintf("line %d, “%s”: %s", n, safetext.Shorten(safetext.OneLine(safetext.Visible(line)), 120),
			fmt.Sprintf(format, args...)))
}

// read takes all lines of a comment.
func (l *listReader) read(lines []string) {
	for i, line := range lines {
		l.line(i+1, strings.TrimRight(strings.ReplaceAll(line, "\u00a0", " "), " \t"))
	}
	if !l.begun {
		l.problems = append(l.problems,
			"the list of stories is not found: it must be below the heading “"+listHeading+"”; put that line back above the list")
	} else if len(l.stories) == 0 && len(l.problems) == 0 {
		l.problems = append(l.problems,
			"the list below “"+listHeading+"” has no stories; a story is a line such as “- [ ] Greet people by name”")
	}
}

func (l *listReader) line(n int, line string) {
	inside := l.begun && !l.ended
	if l.fence != "" {
		if closes(line, l.fence) || closes(strings.TrimSpace(line), l.fence) {
			l.fence = ""
		}
		return
	}
	if m := codeBlock.FindStringSubmatch(line); m != nil {
		if l.fence = m[1] + m[2]; inside {
			l.wrong(n, line, "a story holds no block of code; write it as one line, with code between `backticks`")
		}
		return
	}
	text := strings.TrimLeft(line, " \t")
	switch {
	case strings.HasPrefix(text, "<details"):
		l.details++
		l.ended = l.begun
		return
	case l.details > 0:
		if strings.Contains(text, "</details>") {
			l.details--
		}
		return
	case listsBegin.MatchString(line) && l.begun:
		l.wrong(n, line, "this heading is there twice; keep one list below one heading")
		l.ended = false
		return
	case listsBegin.MatchString(line):
		l.begun = true
		return
	case inside && anyHeading.MatchString(line):
		l.ended = true
		return
	case !inside:
		if otherItem.MatchString(text) && !rule.MatchString(text) {
			l.wrong(n, line, "this item stands outside of the list; move it below the heading “%s”, or delete it", listHeading)
		}
		return
	}
	l.inside(n, line, text)
}

// inside reads a line of the list.
func (l *listReader) inside(n int, line, text string) {
	defer func() { l.blank = text == "" }()
	indent := width(line)
	switch m := listItem.FindStringSubmatch(text); {
	case text == "", rule.MatchString(text):
	case m != nil:
		l.item(n, line, indent, m[1], text[len(m[0]):])
	case len(l.stories) == 0, l.blank && indent <= l.last().indent, strings.ContainsAny(text[:1], "<>|="):
		l.wrong(n, line, "this is neither a story nor part of one; a story is a line such as “- [ ] Greet people by name”, "+
			"and what it must fulfil are lines below it such as “  - an empty name is refused”")
	default:
		l.more(n, line, text)
	}
}

func (l *listReader) last() *listedStory { return &l.stories[len(l.stories)-1] }

// width is how far a line is indented; a tab goes to the next fourth column.
func width(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// item reads an item: a story, or what the story above it must fulfil. Which of them it is, its indentation says, as it
// does on the page; a line with the id of a story that is known is that story wherever it stands.
func (l *listReader) item(n int, line string, indent int, box, text string) {
	id, hasID, rest := l.id(text, len(l.stories) == 0 || indent <= l.last().indent+1)
	if box == "x" || box == "X" {
		l.wrong(n, line, "its box is ticked, and nothing of a plan is done before it begins; untick it to keep it, or "+
			"delete the line to leave it out")
	}
	if strings.HasPrefix(strings.TrimSpace(text), "~~") {
		l.wrong(n, line, "it is struck out; delete the line to leave it out")
	}
	if len(l.stories) > 0 && indent > l.last().indent+1 && !hasID {
		said := l.plain(n, line, text)
		if said == "" {
			return // an item that someone has begun and not written
		}
		st := l.last()
		st.AcceptanceCriteria, st.inItem = append(st.AcceptanceCriteria, said), true
		return
	}
	st := listedStory{n: n, line: line, indent: indent, hasID: hasID}
	st.ID = id
	if m := needsTail.FindStringSubmatchIndex(rest); m != nil {
		if needs, ok := ids(rest[m[4]:m[5]]); ok {
			st.needs, rest = needs, strings.TrimRight(rest[:m[2]-1], " \t")
		}
	}
	st.Title = l.plain(n, line, rest)
	if st.Title == "" {
		l.wrong(n, line, "the story has no title; write one, or delete the line")
	}
	l.stories = append(l.stories, st)
}

// id takes the id off that the text of an item begins with: one that is known, one in the usual form, or in bold with a
// colon any.
func (l *listReader) id(text string, story bool) (id string, ok bool, rest string) {
	text = strings.TrimLeft(text, " \t")
	if m := boldID.FindStringSubmatch(text); m != nil {
		id = plainDashes.Replace(m[1])
		if known := l.known(id); known != "" {
			return known, true, text[len(m[0]):]
		}
		if usualID.MatchString(id) || story && m[2]+m[3] != "" {
			return id, true, text[len(m[0]):]
		}
		return "", false, text
	}
	if m := plainID.FindStringSubmatch(text); m != nil && story {
		id = plainDashes.Replace(m[1])
		if known := l.known(id); known != "" && strings.ContainsAny(known, "0123456789") {
			return known, true, text[len(m[0]):]
		}
		if usualID.MatchString(id) {
			return id, true, text[len(m[0]):]
		}
	}
	return "", false, text
}

// plainDashes puts right what a telephone makes of a dash.
var plainDashes = strings.NewReplacer("–", "-", "—", "-", "‑", "-")

// known is a story's id as ralph wrote it; empty without one.
func (l *listReader) known(id string) string {
	for _, s := range l.before.Stories {
		if strings.EqualFold(s.ID, id) {
			return s.ID
		}
	}
	return ""
}

var betweenIDs = regex.Lazy(`(?i)[ \t]*(?:[,;&]|\band\b)[ \t]*`)

// ids are the ids in a list such as "US-001, US-002 and US-003"; ok is false when words are there.
func ids(text string) (list []string, ok bool) {
	for _, one := range strings.Split(betweenIDs.ReplaceAllString(strings.TrimSpace(text), ","), ",") {
		if one = strings.Trim(one, "`* \t"); one == "" {
			continue
		}
		if strings.ContainsAny(one, " \t") {
			return nil, false
		}
		list = append(list, plainDashes.Replace(one))
	}
	return list, len(list) > 0
}

// more reads a line that continues with what is above it: the description of a story, or an item that is wrapped.
func (l *listReader) more(n int, line, text string) {
	st := l.last()
	said := l.plain(n, line, text)
	switch last := len(st.AcceptanceCriteria) - 1; {
	case said == "":
	case st.inItem && !l.blank:
		st.AcceptanceCriteria[last] += " " + said
	default:
		if st.inItem = false; l.blank && len(st.described) > 0 {
			st.described = append(st.described, "")
		}
		st.described = append(st.described, said)
	}
}

// plain is the text that a line of Markdown shows. Code keeps its backticks, and emphasis its signs.
func (l *listReader) plain(n int, line, raw string) string {
	var b strings.Builder
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\' && i+1 < len(raw) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", raw[i+1]) >= 0:
			b.WriteByte(raw[i+1])
			i += 2
		case c == '`':
			run := wording.Leading(raw[i:], '`')
			content, _, closed := wording.CutRun(raw[i+run:], run)
			if !closed {
				b.WriteString(raw[i : i+run])
				i += run
				continue
			}
			end := i + 2*run + len(content)
			b.WriteString(raw[i:end])
			i = end
		case c == '<' && openHTML.MatchString(raw[i:]):
			l.wrong(n, line, "it contains HTML, which is invisible on the page; delete it, or write it as `code`")
			return safetext.OneLine(safetext.Visible(b.String() + raw[i:]))
		default:
			b.WriteByte(c)
			i++
		}
	}
	return safetext.OneLine(safetext.Visible(b.String()))
}

// plan is what was read, with ids for those stories that have none.
func (l *listReader) plan() plan.Plan {
	out := l.before
	out.Stories = nil
	taken := map[string]int{}
	for _, st := range l.stories {
		if !st.hasID {
			continue
		}
		if first := taken[strings.ToLower(st.ID)]; first != 0 {
			l.wrong(st.n, st.line, "the id %s stands on line %d already; delete the id here, and the story gets one of its own",
				st.ID, first)
			continue
		}
		taken[strings.ToLower(st.ID)] = st.n
	}
	next := l.newIDs(taken)
	for i := range l.stories {
		st := &l.stories[i]
		if !st.hasID {
			st.ID = next()
		}
		if len(st.AcceptanceCriteria) == 0 && st.Title != "" {
			st.AcceptanceCriteria = []string{st.Title}
			l.notes = append(l.notes, fmt.Sprintf("%s has no criteria of its own, so its title is what it must fulfil", st.ID))
		}
		st.Description, st.Priority = strings.Join(st.described, "\n"), float64(i+1)
		if was := l.before.Story(st.ID); was != nil {
			st.Notes, st.Extra = was.Notes, was.Extra
		}
	}
	for i := range l.stories {
		l.depend(i)
		out.Stories = append(out.Stories, l.stories[i].Story)
	}
	return out
}

// depend settles what a story needs. A story that is removed from the list is no longer needed.
func (l *listReader) depend(i int) {
	st := &l.stories[i]
	for _, id := range st.needs {
		at := slices.IndexFunc(l.stories, func(s listedStory) bool { return strings.EqualFold(s.ID, id) })
		switch {
		case at >= 0 && slices.Contains(st.DependsOn, l.stories[at].ID):
		case at >= 0:
			if st.DependsOn = append(st.DependsOn, l.stories[at].ID); at > i {
				l.notes = append(l.notes, fmt.Sprintf("%s is above %s, which it needs, so %s is done first", st.ID,
					l.stories[at].ID, l.stories[at].ID))
			}
		case l.known(id) != "":
			l.notes = append(l.notes, fmt.Sprintf("%s no longer needs %s, because that story was left out", st.ID, l.known(id)))
		default:
			l.wrong(st.n, st.line, "it needs %s, which is not a story of this list; must be the ids of other stories, as in "+
				"“(needs US-001, US-002)”", safetext.Shorten(id, 64))
		}
	}
}

var numberedID = regex.Lazy(`^(.*?)(\d{1,9})$`)

// newIDs continues from the present and the former ids, so that no id means two stories.
func (l *listReader) newIDs(taken map[string]int) func() string {
	prefix, digits, highest := "US-", 3, 0
	all := l.before.Stories
	for _, st := range l.stories {
		if st.hasID {
			all = append(slices.Clone(all), st.Story)
		}
	}
	for i, s := range all {
		m := numberedID.FindStringSubmatch(s.ID)
		if m != nil && (i == 0 || m[1] == prefix) {
			n, _ := strconv.Atoi(m[2])
			prefix, digits, highest = m[1], len(m[2]), max(highest, n)
		}
	}
	return func() string {
		for {
			highest++
			id := fmt.Sprintf("%s%0*d", prefix, digits, highest)
			if taken[strings.ToLower(id)] == 0 {
				return id
			}
		}
	}
}
