package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/fake"
)

// report is a text for people on the stand-in.
type report struct{ heading, meta, markdown string }

// reports are what ralph left on the stand-in for people to read.
func (s *stage) reports() (parts []report) {
	if p, ok := s.pull(solvable); ok {
		at := fmt.Sprintf("pull request #%d", p.Number)
		parts = append(parts, report{"P" + at[1:] + ": " + p.Title, p.State + ", " + readiness(p), p.Body})
		if c, ok := s.comment(p.Number, sticky); ok {
			parts = append(parts, report{"Comment on " + at, "kept up to date while it ran", c.Body})
		}
	}
	if p, ok := s.pull(hopeless); ok {
		if c, ok := s.comment(p.Number, failure); ok {
			parts = append(parts, report{"Failure report of issue #2", fmt.Sprintf("on the draft pull request #%d", p.Number), c.Body})
		}
	}
	return parts
}

// What the bot's comments hold, by which they are told apart.
const (
	sticky  = "<!-- ralph:run:"
	ended   = ".ended."
	failure = ".failure."
)

// pull is the pull request with the work for an issue.
func (s *stage) pull(issue int) (fake.Pull, bool) {
	for _, p := range s.hub.Pulls(owner, name) {
		if p.Head == branch(issue) {
			return p, true
		}
	}
	return fake.Pull{}, false
}

func branch(issue int) string { return fmt.Sprintf("ralph/issue-%d", issue) }

// comment is the bot's one comment that holds a text; there is none when it wrote several.
func (s *stage) comment(number int, holds string) (found fake.Comment, ok bool) {
	n := 0
	for _, c := range s.hub.Comments(owner, name, number) {
		if c.Author == bot && strings.Contains(c.Body, holds) && (holds == ended || !strings.Contains(c.Body, ended)) {
			found = c
			n++
		}
	}
	return found, n == 1
}

var localLink = regexp.MustCompile(`\[((?:\\.|[^\\\[\]])*)\]\(http://127\.0\.0\.1:[^)\s]*\)`)

// unlink keeps a link's text alone: when it is read, the stand-in it led to is gone.
func unlink(markdown string) string { return localLink.ReplaceAllString(markdown, "$1") }

// keep writes the comment and the report of the run that is done to comment.md and run.html, as people see them:
// make pictures photographs them.
func (s *stage) keep(dir string) error {
	p, _ := s.pull(solvable)
	comment, ok := s.comment(p.Number, sticky)
	pages, err := filepath.Glob(filepath.Join(s.jobDir(solvable), "workspace", ".ralph", "runs", "*", "report.html"))
	if err != nil {
		return err
	}
	if !ok || len(pages) != 1 {
		return fmt.Errorf("the run left %d pages, and a comment: %t", len(pages), ok)
	}
	page, err := os.ReadFile(pages[0])
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "comment.md"), []byte(comment.Body), 0o644),
		os.WriteFile(filepath.Join(dir, "run.html"), page, 0o644)) // for people to read
}
