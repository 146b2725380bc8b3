package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

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
