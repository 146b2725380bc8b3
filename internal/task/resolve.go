package task

import (
	"fmt"
	"slices"
	"strings"
)

func unique(texts []string) []string {
	var out []string
	for _, t := range texts {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// Resolve is a role's criteria with what they leave open filled in: the role's own promise, a description, a method.
// The method is external where there is a command, multi_stage where there are stages, else def, which is string_match
// when empty. A semantic verification that asks nothing asks for the acceptance criteria. c may be nil.
func (c *Criteria) Resolve(role Role, title string, acceptance []string, def Method) Criteria {
	var out Criteria
	if c != nil {
		out = *c
	}
	if strings.TrimSpace(out.Promise) == "" {
		out.Promise = role.Promise()
	}
	if out.Description == "" {
		out.Description = fmt.Sprintf("Complete %s stage for: %s", role, title)
	}
	var config Verification
	if out.Config != nil {
		config = *out.Config
	}
	if out.Method == "" {
		out.Method = config.method(def)
	}
	if out.Method == Semantic && len(config.CheckFor) == 0 && len(config.NegativePatterns) == 0 {
		config.CheckFor = slices.Clone(acceptance)
	}
	out.Config = &config
	return out
}

// method is the one that the fields ask for; else def.
func (v Verification) method(def Method) Method {
	switch {
	case v.Command != "":
		return External
	case len(v.Stages) > 0:
		return MultiStage
	case def == "":
		return StringMatch
	}
	return def
}

// Merge lays one completion over another, which it does not change: outcome, acceptance criteria and each key of each
// role as over says them, else as under does. A verification_config is one value: the fields of a method belong
// together. Whoever names another method without a config means it to be without one.
func Merge(under, over *Completion) *Completion {
	if under == nil || over == nil {
		if under == nil {
			under = over
		}
		return under
	}
	out := *under
	if over.Outcome != "" {
		out.Outcome = over.Outcome
	}
	if len(over.Acceptance) > 0 {
		out.Acceptance = over.Acceptance
	}
	out.Coder = mergeCriteria(under.Coder, over.Coder)
	out.Tester = mergeCriteria(under.Tester, over.Tester)
	out.Reviewer = mergeCriteria(under.Reviewer, over.Reviewer)
	out.QA = mergeCriteria(under.QA, over.QA)
	return &out
}

func mergeCriteria(under, over *Criteria) *Criteria {
	if under == nil || over == nil {
		if under == nil {
			under = over
		}
		return under
	}
	out := *under
	if over.Promise != "" {
		out.Promise = over.Promise
	}
	if over.Description != "" {
		out.Description = over.Description
	}
	if over.MaxIterations != 0 {
		out.MaxIterations = over.MaxIterations
	}
	switch {
	case over.Config != nil:
		out.Method, out.Config = over.Method, over.Config
	case over.Method != "" && over.Method != under.effective():
		out.Method, out.Config = over.Method, nil
	case over.Method != "":
		out.Method = over.Method
	}
	return &out
}

// effective is the method that the criteria name or their config asks for.
func (c *Criteria) effective() Method {
	if c.Method == "" && c.Config != nil {
		return c.Config.method("")
	}
	return c.Method
}

// Commands are all commands that a completion would have run, each once, in the order of the roles.
func (c *Completion) Commands() []string {
	var out []string
	for _, r := range Roles {
		of := c.For(r)
		if of == nil || of.Config == nil {
			continue
		}
		out = append(out, of.Config.commands()...)
	}
	return unique(out)
}

func (v *Verification) commands() []string {
	var out []string
	if v.Command != "" {
		out = append(out, v.Command)
	}
	for _, s := range v.Stages {
		if s.Config != nil {
			out = append(out, s.Config.commands()...)
		}
	}
	return out
}
