package report

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// pushBack says how commits of someone who has taken over get into the pull request.
func (v View) pushBack() string {
	branch := wording.ShellWord(safetext.OneLine(v.Clean(v.State.Branch().Name())))
	if v.local() || v.State.Post.Pull == 0 || v.State.Branch().Name() == "" || len(branch) > wording.MaxURL {
		return ""
	}
	return "Commit there, and " + safetext.Code("git push origin HEAD:"+branch) + " brings it into the pull request."
}

// reproduce is one shell command that brings the work and its failure to a clone; "" when there is no branch.
func (v View) reproduce() string {
	s := v.State
	name := s.Kept().Name()
	if s.Post.Pull != 0 && !v.local() { // whose commits are the pull request's
		name = s.Branch().Name()
	}
	branch := wording.ShellWord(safetext.OneLine(v.Clean(name)))
	if name == "" || len(branch) > wording.MaxURL { // git has none of that length
		return ""
	}
	line := "git fetch origin " + branch + " && git checkout FETCH_HEAD"
	if v.local() {
		line = "git checkout " + branch
	}
	commands := s.Start.Checks
	if f := s.Failure(); f != nil && slices.Contains(s.Start.Checks, f.Check) {
		commands = []string{f.Check}
	}
	for _, c := range commands {
		c = v.Clean(strings.TrimSpace(c))
		if len(line)+len(c) > 4<<10 {
			break
		}
		line += " && " + grouped(c)
	}
	return line
}

// block is a fence around commands; "" for none.
func block(commands string) string {
	if commands == "" {
		return ""
	}
	return safetext.Fence(commands)
}

// grouped keeps a command of several parts together.
func grouped(c string) string {
	switch {
	case strings.Contains(c, "\n"):
		return "sh -c " + wording.ShellWord(c)
	case strings.ContainsAny(c, ";|&"):
		return "(" + c + ")"
	}
	return c
}
