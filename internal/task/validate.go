package task

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Bounds of what a task may say.
const (
	maxCriteria = 64 << 10 // bytes of all criteria, of a description or of an outcome
	maxPromise  = 100
	maxStages   = 20
	maxTurns    = 10000
	maxSeconds  = 24 * 60 * 60
	maxTitle    = 200
	maxNeeds    = 100
)

// Problem is one thing that is wrong with a task: the key and what is wrong with its value, with what is allowed.
type Problem struct{ Key, Message string }

func (p Problem) String() string { return p.Key + " " + p.Message }

// problems collects what is wrong.
type problems []Problem

func (p *problems) add(key, format string, args ...any) {
	*p = append(*p, Problem{key, fmt.Sprintf(format, args...)})
}

// Problems is everything that is wrong with a task of a file.
func (t Task) Problems() []Problem {
	var p problems
	switch {
	case t.ID == "":
		p.add("id", "is missing; %s", IDRule)
	case !ValidID(t.ID):
		p.add("id", "is %s; %s", safetext.Quoted(t.ID), IDRule)
	}
	if t.Title == "" {
		p.add("title", "is missing; write the request in one line")
	}
	p.long("title", t.Title, maxTitle)
	if t.Priority < 0 || t.Priority > 1_000_000 {
		p.add("priority", "is %d; must be 0 to 1000000, the lower the sooner", t.Priority)
	}
	if len(t.Dependencies) > maxNeeds {
		p.add("dependencies", "are %d; must be at most %d", len(t.Dependencies), maxNeeds)
	}
	for i, id := range t.Dependencies {
		key := fmt.Sprintf("dependencies[%d]", i+1)
		switch {
		case !ValidID(id):
			p.add(key, "is %s, which is not a valid id; %s", safetext.Quoted(id), IDRule)
		case id == t.ID:
			p.add(key, "is %s itself; a task cannot wait for itself", id)
		case slices.Contains(t.Dependencies[:i], id):
			p.add(key, "is %s for the second time; name it once", id)
		}
	}
	return append(p, t.Completion.Problems("completion")...)
}

// Validate is the problems of a completion as one error, a line each; where is how the completion is called in them.
func (c *Completion) Validate(where string) error {
	return joined(safetext.Map(c.Problems(where), func(p Problem) error { return errors.New(p.String()) }))
}

// Problems is everything that is wrong with a completion; key is what it is called. Nothing is wrong with nil.
func (c *Completion) Problems(key string) []Problem {
	if c == nil {
		return nil
	}
	var p problems
	p.long(below(key, "outcome"), c.Outcome, maxCriteria)
	p.texts(below(key, "acceptance_criteria"), c.Acceptance)
	for _, r := range Roles {
		if of := c.For(r); of != nil {
			p.criteria(below(key, string(r)), of)
		}
	}
	return p
}

// Lacks is what a completion must say when a task is created, and does not.
func (c *Completion) Lacks() []string {
	var lacks []string
	if c == nil || strings.TrimSpace(c.Outcome) == "" {
		lacks = append(lacks, "outcome")
	}
	if c == nil || len(c.Acceptance) == 0 {
		lacks = append(lacks, "acceptance_criteria")
	}
	return lacks
}

func (p *problems) criteria(key string, c *Criteria) {
	p.promise(below(key, "promise"), c.Promise)
	p.long(below(key, "description"), c.Description, maxCriteria)
	if c.MaxIterations < 0 || c.MaxIterations > maxTurns {
		p.add(below(key, "max_iterations"), "is %d; must be 1 to %d", c.MaxIterations, maxTurns)
	}
	p.method(below(key, "verification_method"), c.Method, Methods)
	p.verification(below(key, "verification_config"), "verification_method", c.Method, c.Config)
}

func (p *problems) promise(key, promise string) {
	switch {
	case promise == "":
	case strings.TrimSpace(promise) == "":
		p.add(key, "is empty; must be a text such as IMPLEMENTATION_COMPLETE")
	case strings.ContainsAny(promise, "<>"):
		p.add(key, "is %s; must be a string without < and >: it is printed between <promise> and </promise>",
			safetext.Quoted(promise))
	case strings.ContainsFunc(promise, unicode.IsControl):
		p.add(key, "is %s; must be a text of one line", safetext.Quoted(promise))
	}
	p.long(key, promise, maxPromise)
}

func (p *problems) method(key string, m Method, allowed []Method) {
	if m != "" && !slices.Contains(allowed, m) {
		p.add(key, "is %s, an unknown verification method; must be one of %s%s", safetext.Quoted(string(m)),
			safetext.Listed(allowed), meant(string(m), allowed))
	}
}

// verification holds a config against its method. A key that the method does not read is a mistake: its author believes
// that it is used. methodKey is how the method's key is called there.
func (p *problems) verification(key, methodKey string, m Method, v *Verification) {
	v = cmp.Or(v, &Verification{})
	p.fields(key, v)
	for _, f := range v.used() {
		switch {
		case m == "" && f.method != External && f.method != MultiStage, m == "" && v.Command == "" && f.method == External,
			m == "" && v.Command != "" && f.method == MultiStage:
			p.add(below(key, f.key), "is read by %s alone; say %s: %s", f.method, methodKey, f.method)
		case m != "" && m != f.method && slices.Contains(Methods, m):
			p.add(below(key, f.key), "is read by %s alone, and the method is %s; say %s: %s, or leave it out", f.method, m,
				methodKey, f.method)
		}
	}
	switch {
	case m == External && strings.TrimSpace(v.Command) == "":
		p.add(below(key, "command"), "is missing: No command specified for external verification; give the command to run, "+
			"or choose another method")
	case m == Semantic && len(v.CheckFor) == 0 && len(v.NegativePatterns) == 0:
		p.add(below(key, "check_for"), "is missing; give a list of texts, %q, or negative_patterns", AcceptanceCriteria)
	case m == MultiStage && len(v.Stages) == 0:
		p.add(below(key, "stages"), "is missing; give at least one stage with a name, a method and its config")
	}
	p.stages(below(key, "stages"), v.Stages)
}

// fields checks each value, for every method.
func (p *problems) fields(key string, v *Verification) {
	p.texts(below(key, "check_for"), v.CheckFor)
	p.texts(below(key, "negative_patterns"), v.NegativePatterns)
	p.long(below(key, "model"), v.Model, maxTitle)
	p.long(below(key, "output_contains"), v.OutputContains, maxCriteria)
	p.long(below(key, "output_not_contains"), v.OutputNotContains, maxCriteria)
	if strings.ContainsRune(v.Command, 0) {
		p.add(below(key, "command"), "holds a zero byte; must be a command as a shell reads it")
	}
	if v.SuccessExitCode < 0 || v.SuccessExitCode > 255 {
		p.add(below(key, "success_exit_code"), "is %d; must be 0 to 255", v.SuccessExitCode)
	}
	if v.Timeout < 0 || v.Timeout > maxSeconds {
		p.add(below(key, "timeout"), "is %d; must be 1 to %d seconds", v.Timeout, maxSeconds)
	}
	if !within(v.WorkingDir) {
		p.add(below(key, "working_dir"), "is %s; must be a directory in the worktree, such as . or services/api",
			safetext.Quoted(v.WorkingDir))
	}
}

// within reports whether a directory is a relative one that does not lead out.
func within(dir string) bool {
	clean := path.Clean(dir)
	return !path.IsAbs(dir) && clean != ".." && !strings.HasPrefix(clean, "../") && !strings.ContainsAny(dir, "\\\x00:") &&
		!strings.HasPrefix(dir, "~")
}

func (p *problems) stages(key string, stages []Stage) {
	if len(stages) > maxStages {
		p.add(key, "are %d; must be at most %d", len(stages), maxStages)
	}
	single := []Method{StringMatch, Semantic, External}
	for i, s := range stages {
		at := fmt.Sprintf("%s[%d]", key, i+1)
		p.long(below(at, "name"), s.Name, maxPromise)
		if s.Method == MultiStage || s.Config != nil && len(s.Config.Stages) > 0 {
			p.add(below(at, "method"), "is multi_stage in a stage; must be one of %s: put its stages beside this one",
				safetext.Listed(single))
			continue
		}
		p.method(below(at, "method"), s.Method, single)
		p.verification(below(at, "config"), "method", cmp.Or(s.Method, StringMatch), s.Config)
	}
}

// field is a key that has a value, and the method that reads it.
type field struct {
	key    string
	method Method
}

// used are the keys of a verification that someone has set.
func (v *Verification) used() (out []field) {
	of := reflect.ValueOf(*v)
	for i, key := range keysOf(of.Type()) {
		if !of.Field(i).IsZero() && (key != "require_all" || len(v.Stages) == 0) {
			out = append(out, field{key, Method(of.Type().Field(i).Tag.Get("of"))})
		}
	}
	return out
}

func (p *problems) long(key, s string, most int) {
	if len(s) > most {
		p.add(key, "has %d bytes; must be at most %d", len(s), most)
	}
}

func (p *problems) texts(key string, texts []string) {
	p.long(key, strings.Join(texts, ""), maxCriteria)
	for i, s := range texts {
		at := fmt.Sprintf("%s[%d]", key, i+1)
		if strings.TrimSpace(s) == "" {
			p.add(at, "is empty; write what must be true, or remove it")
		}
	}
}
