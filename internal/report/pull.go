package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// PullBody is the pull request's description (B-19), at most 60,000 bytes: what a reviewer wants to know in the order in which they want
// it, or in that of the repository's own template.
func PullBody(v View) string {
	files, hidden := v.ranked()
	return fit(pullLimit, func(r room) string {
		sections := v.pullSections(r, files, hidden)
		if strings.TrimSpace(v.Template) == "" || r.spec == 0 {
			return written(sections)
		}
		return v.intoTemplate(sections)
	})
}

func (v View) pullSections(r room, files []ranked, hidden int) []section {
	var state, checks, rest page
	state.part("**" + v.headline() + "**")
	state.part(v.lead())
	checks.part(v.checks(r.checks))
	checks.part(v.baseline())
	if promises := v.verification(r.rows); promises != "" {
		checks.part("**Promises**\n\n" + promises)
	}
	rest.part(v.lastFailure(r.lines))
	rest.part(v.cost())
	if note := v.text(v.TokenNote, 400); note != "" {
		rest.part("> ℹ️ " + note)
	}
	rest.part(small(slices.Concat(v.credits(), v.kept(), v.updated())))
	all := []section{
		{"top", "", v.atCap(r)}, {"closes", "", v.closes()}, {"state", "", state.String()}, {"stories", "Stories", strings.TrimPrefix(v.stories(r), storyLead)},
		{"asked", "What was asked", v.task(r)}, {"done", "What was done", v.work(r)}, {"verdict", "The reviewer's verdict", v.reviewed(r)},
		{"look", "What to look at first", v.lookFirst(r, files, hidden)}, {"judges", "Tests and checks that this change touches", v.judges(files, r.files)},
		{"git", gitTitle, v.gitNotes()}, {"checks", "Checks", checks.String()}, {"reproduce", "Try it yourself", v.tryIt()}, {"back", "Send it back", v.sendBack()}, {"rest", "", rest.String()},
	}
	return slices.DeleteFunc(all, func(s section) bool { return strings.TrimSpace(s.body) == "" })
}

func (v View) closes() string {
	if v.State.Start.Issue == 0 {
		return ""
	}
	return fmt.Sprintf("Closes #%d", v.State.Start.Issue)
}

func titled(title, body string) string {
	if body == "" {
		return ""
	}
	return "### " + title + "\n\n" + body
}

// asked is task under its heading.
func (v View) asked(r room) string { return titled("What was asked", v.task(r)) }

// task quotes what was asked as it stood when it was asked, and the maintainers' hints.
func (v View) task(r room) string {
	s := v.State
	var p page
	p.part("**" + v.text(s.Start.Title, 200) + "**")
	if r.spec > 0 && strings.TrimSpace(s.Start.Spec) != "" {
		p.part(v.quote(s.Start.Spec, r.spec))
	}
	for i, hint := range s.Hints {
		if i == r.remarks {
			p.part(fmt.Sprintf("%s more", count(len(s.Hints)-i, "hint")))
			break
		}
		p.part("Hint: " + v.text(hint, 500))
	}
	return p.String()
}

// work tells what each iteration did in one line, and everything else about it folded; and what became of the review that was last heeded.
func (v View) work(r room) string {
	var p page
	p.part(v.steps(r.rows))
	p.part(v.feedback(r))
	p.part(v.inWords(r, v.byStory(r.rows)))
	return p.String()
}

func (v View) steps(most int) string {
	its := v.State.Iterations
	var b strings.Builder
	if hidden := len(its) - most; hidden > 0 {
		fmt.Fprintf(&b, "- %s not shown\n", count(hidden, "earlier iteration"))
		its = its[hidden:]
	}
	for _, it := range its {
		fmt.Fprintf(&b, "- **%d, %s:** %s%s; %s%s\n", it.N, v.who(it), v.done(it), v.names(it, 3), v.result(it), v.firstWords(it))
	}
	return b.String()
}

// names are the files of an iteration that changed most.
func (v View) names(it *loop.Iteration, most int) string {
	if it.Commit == nil || it.Commit.Empty || len(it.Commit.Files) == 0 {
		return ""
	}
	files := slices.Clone(it.Commit.Files)
	slices.SortStableFunc(files, func(a, b loop.FileChange) int { return b.Added + b.Deleted - a.Added - a.Deleted })
	var names []string
	for _, f := range files[:min(len(files), most)] {
		names = append(names, v.code(path.Base(f.Path), 40))
	}
	if more := len(files) + it.Commit.MoreFiles - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return ": " + strings.Join(names, ", ")
}

// firstWords is the first line of what the agent says that it did.
func (v View) firstWords(it *loop.Iteration) string {
	said, _, _ := strings.Cut(strings.TrimSpace(withoutTag(it.Turn.Text)), "\n")
	if said = v.text(said, 160); said == "" {
		return ""
	}
	return " — “" + said + "”"
}

// tryIt is the block that brings the branch to a clone and runs its checks.
func (v View) tryIt() string {
	s := v.State
	branch := shellWord(oneLine(v.clean(workBranch(s))))
	if v.local() || workBranch(s) == "" || len(branch) > maxURL {
		return ""
	}
	lines := "git fetch origin " + branch + "\ngit checkout FETCH_HEAD\n"
	if v.Dir != "" {
		lines += "cd " + shellWord(oneLine(v.clean(v.Dir))) + "\n"
	}
	for _, c := range s.Start.Checks {
		if c = v.clean(strings.TrimSpace(c)); len(lines)+len(c) > 4<<10 {
			break
		}
		lines += c + "\n"
	}
	return fenced(lines)
}

// sendBack says how a reviewer gets something else.
func (v View) sendBack() string {
	if v.local() {
		return ""
	}
	return "Request changes in a review, or comment:\n\n| comment | what it does |\n|---|---|\n" +
		row(v.command("fix"), "works on every open remark of the reviews, each of which gets an answer") +
		row(v.command("retry <what to change>"), "goes on from here with your words") +
		row(v.command("retry --fresh <what to do>"), "starts over from the base; this work is kept under another name")
}
