package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/report/html"
)

// reports are what ralph left on the stand-in for people to read.
func (s *stage) reports() (parts []html.Section) {
	if p, ok := s.pull(solvable); ok {
		at := fmt.Sprintf("pull request #%d", p.Number)
		parts = append(parts, section("P"+at[1:]+": "+p.Title, p.State+", "+readiness(p), p.Body))
		if c, ok := s.comment(p.Number, sticky); ok {
			parts = append(parts, section("Comment on "+at, "kept up to date while it ran", c.Body))
		}
	}
	if p, ok := s.pull(hopeless); ok {
		if c, ok := s.comment(p.Number, failure); ok {
			parts = append(parts, section("Failure report of issue #2", fmt.Sprintf("on the draft pull request #%d", p.Number),
				c.Body))
		}
	}
	return parts
}

func section(heading, meta, markdown string) html.Section {
	return html.Section{Heading: heading, Meta: meta, Markdown: unlink(markdown)}
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

// writePage writes the page below a directory, or below the temporary one when that cannot be, and returns its path.
func writePage(dir string, parts []html.Section) (string, error) {
	page, err := html.Page("ralph, demonstrated", parts...)
	if err != nil {
		return "", fmt.Errorf("making the page: %w", err)
	}
	var problems []error
	for _, file := range []string{filepath.Join(dir, "demo", "report.html"),
		filepath.Join(os.TempDir(), "ralph-demo-report.html")} {
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, page, 0o644)) // for people to read
		if err == nil {
			return file, nil
		}
		problems = append(problems, err)
	}
	return "", fmt.Errorf("writing the page: %w", errors.Join(problems...))
}
