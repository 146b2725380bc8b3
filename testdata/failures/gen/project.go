package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// project is a small project that works, and the ways to break it. It is read from a txtar file TOOL.PROJECT.txtar, whose head has lines
// "run: COMMAND", "vary: ARGUMENTS | ARGUMENTS…" (put in place of {} in the command, one for each recording), "before: COMMAND" (run first, its
// output dropped) and "clock: real" (the tool cannot be run under another clock). A file named @FAILURE/PATH replaces PATH in that failure;
// an empty one takes it away; one named "@FAILURE/PATH edit" replaces the lines (or the part of a line) above "=>" by those below it, once for each such pair
// that a line "===" divides.
type project struct {
	tool, name  string
	run, before string // run has {} where vary goes
	vary        []string
	real        bool
	failures    []string
	files       []file
}

type file struct {
	failure, path, text string
	edit                bool
}

func readProject(name string) (*project, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	tool, rest, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txtar"), ".")
	p := &project{tool: tool, name: rest}
	for line := range strings.Lines(string(text)) {
		if err := p.readLine(line); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if p.run == "" || len(p.failures) == 0 {
		return nil, fmt.Errorf("%s: a project needs a run line and a file @FAILURE/PATH", name)
	}
	return p, nil
}

func (p *project) readLine(line string) error {
	if head, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(line, " --\n") {
		f := file{path: strings.TrimSuffix(head, " --\n")}
		if at, ok := strings.CutPrefix(f.path, "@"); ok {
			f.failure, f.path, _ = strings.Cut(at, "/")
			f.path, f.edit = strings.CutSuffix(f.path, " edit")
			if !slices.Contains(p.failures, f.failure) {
				p.failures = append(p.failures, f.failure)
			}
		}
		p.files = append(p.files, f)
		return nil
	}
	if n := len(p.files); n > 0 {
		p.files[n-1].text += line
		return nil
	}
	key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
	switch key {
	case "run":
		p.run = value
	case "before":
		p.before = value
	case "clock":
		p.real = value == "real"
	case "vary":
		for v := range strings.SplitSeq(value, "|") {
			p.vary = append(p.vary, strings.TrimSpace(v))
		}
	case "":
	default:
		if strings.HasPrefix(line, "#") {
			return nil
		}
		return fmt.Errorf("unknown line %q: run, vary, before or clock", line)
	}
	return nil
}

// layOut writes the project into dir, broken in the way that failure names, its source files moved down by shift lines.
func (p *project) layOut(failure, dir string, shift int) error {
	texts := map[string]string{}
	for _, f := range p.files {
		switch {
		case f.failure != "" && f.failure != failure:
		case f.edit:
			text, err := edited(texts[f.path], f.text)
			if err != nil {
				return fmt.Errorf("editing %s: %w", f.path, err)
			}
			texts[f.path] = text
		case f.failure != "" && f.text == "":
			delete(texts, f.path)
		default:
			texts[f.path] = f.text
		}
	}
	for path, text := range texts {
		name := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(moved(path, text, shift)), 0o755); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}

func edited(text, edits string) (string, error) {
	for edit := range strings.SplitSeq(edits, "===\n") {
		old, repl, ok := strings.Cut(edit, "=>\n")
		if strings.Count(text, old) == 0 { // a part of a line
			old, repl = strings.TrimSuffix(old, "\n"), strings.TrimSuffix(repl, "\n")
		}
		if !ok || strings.Count(text, old) != 1 {
			return "", fmt.Errorf("%q is there %d times, must be once", old, strings.Count(text, old))
		}
		text = strings.Replace(text, old, repl, 1)
	}
	return text, nil
}

// comments are the starts and the ends of a comment line, for the files that can be moved down.
var comments = map[string][2]string{
	".go": {"//"}, ".js": {"//"}, ".mjs": {"//"}, ".cjs": {"//"}, ".ts": {"//"}, ".tsx": {"//"}, ".rs": {"//"}, ".java": {"//"},
	".c": {"//"}, ".h": {"//"}, ".cc": {"//"}, ".cpp": {"//"}, ".php": {"//"}, ".py": {"#"}, ".rb": {"#"}, ".sh": {"#"}, ".bats": {"#"},
	".pl": {"#"}, ".pm": {"#"}, ".t": {"#"}, ".ex": {"#"}, ".exs": {"#"}, ".yml": {"#"}, ".yaml": {"#"}, ".erl": {"%"},
	".lua": {"--"}, ".f90": {"!"}, ".css": {"/*", " */"}, ".ml": {"(*", " *)"},
}

// moved puts n comment lines above the text, below the first line that only the first line may be.
func moved(path, text string, n int) string {
	comment, ok := comments[filepath.Ext(path)]
	if !ok || n == 0 {
		return text
	}
	first := ""
	if strings.HasPrefix(text, "#!") || strings.HasPrefix(text, "<?php") {
		head, rest, _ := strings.Cut(text, "\n")
		first, text = head+"\n", rest
	}
	return first + strings.Repeat(comment[0]+" kept for later"+comment[1]+"\n", n-1) + "\n" + text
}
