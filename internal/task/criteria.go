package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Role is who acts in a turn.
type Role string

// The roles, in the order in which they follow each other.
const (
	Coder    Role = "coder"    // writes the change
	Tester   Role = "tester"   // writes and runs tests
	Reviewer Role = "reviewer" // reads the change and judges it
	QA       Role = "qa"       // reads the result and holds it against the acceptance criteria
)

// Roles are all roles in the order in which they follow each other.
var Roles = []Role{Coder, Tester, Reviewer, QA}

// ReadOnly reports whether a role judges and changes nothing.
func (r Role) ReadOnly() bool { return r == Reviewer || r == QA }

// Promise is what a role prints in <promise> when no criteria say otherwise.
func (r Role) Promise() string {
	return cmp.Or(promises[r], "STAGE_COMPLETE")
}

var promises = map[Role]string{Coder: "IMPLEMENTATION_COMPLETE", Tester: "TESTS_PASSED", Reviewer: "REVIEW_PASSED",
	QA: "QA_PASSED"}

// Cap is how many turns a role may take in a run whose roles are named, when nothing says otherwise.
func (r Role) Cap() int {
	return cmp.Or(map[Role]int{Coder: 15, Tester: 10}[r], 5)
}

// Method is how a promise is verified.
type Method string

// The verification methods.
const (
	StringMatch Method = "string_match" // the promise is in the agent's output
	Semantic    Method = "semantic"     // a model says whether the criteria are met
	External    Method = "external"     // a command says so
	MultiStage  Method = "multi_stage"  // several of them, one after another
)

// Methods are all methods.
var Methods = []Method{StringMatch, Semantic, External, MultiStage}

// Completion is what "done" means for a task.
type Completion struct {
	Outcome    string   `json:"outcome,omitempty" yaml:"outcome,omitempty"`
	Acceptance []string `json:"acceptance_criteria,omitempty" yaml:"acceptance_criteria,omitempty"`
	// The criteria of each role; nil if the task says nothing about it.
	Coder    *Criteria `json:"coder,omitempty" yaml:"coder,omitempty"`
	Tester   *Criteria `json:"tester,omitempty" yaml:"tester,omitempty"`
	Reviewer *Criteria `json:"reviewer,omitempty" yaml:"reviewer,omitempty"`
	QA       *Criteria `json:"qa,omitempty" yaml:"qa,omitempty"`
}

// For is what a role's completion means; nil when nothing was said.
func (c *Completion) For(r Role) *Criteria {
	if c == nil {
		return nil
	}
	if of := c.of(r); of != nil {
		return *of
	}
	return nil
}

// Set puts a role's criteria in their place.
func (c *Completion) Set(r Role, to *Criteria) {
	if of := c.of(r); of != nil {
		*of = to
	}
}

func (c *Completion) of(r Role) **Criteria {
	switch r {
	case Coder:
		return &c.Coder
	case Tester:
		return &c.Tester
	case Reviewer:
		return &c.Reviewer
	case QA:
		return &c.QA
	}
	return nil
}

// Criteria are one role's completion criteria.
type Criteria struct {
	Promise     string `json:"promise,omitempty" yaml:"promise,omitempty"`
	Description string `json:"description,omitempty" yaml:"description,omitempty"`
	// Method is empty when none was named: external if there is a command, else string_match.
	Method Method        `json:"verification_method,omitempty" yaml:"verification_method,omitempty"`
	Config *Verification `json:"verification_config,omitempty" yaml:"verification_config,omitempty"`
	// MaxIterations caps the role's turns; 0: the default.
	MaxIterations int `json:"max_iterations,omitempty" yaml:"max_iterations,omitempty"`
}

// Verification says what a method looks at. The tag of names the method that reads a field.
type Verification struct {
	CheckFor          Questions `json:"check_for,omitempty" yaml:"check_for,omitempty" of:"semantic"`
	NegativePatterns  []string  `json:"negative_patterns,omitempty" yaml:"negative_patterns,omitempty" of:"semantic"`
	Model             string    `json:"model,omitempty" yaml:"model,omitempty" of:"semantic"`
	Command           string    `json:"command,omitempty" yaml:"command,omitempty" of:"external"`
	SuccessExitCode   int       `json:"success_exit_code,omitempty" yaml:"success_exit_code,omitempty" of:"external"`
	OutputContains    string    `json:"output_contains,omitempty" yaml:"output_contains,omitempty" of:"external"`
	OutputNotContains string    `json:"output_not_contains,omitempty" yaml:"output_not_contains,omitempty" of:"external"`
	Timeout           int       `json:"timeout,omitempty" yaml:"timeout,omitempty" of:"external"`         // seconds; 0: 300
	WorkingDir        string    `json:"working_dir,omitempty" yaml:"working_dir,omitempty" of:"external"` // in the worktree; empty: its top
	Stages            []Stage   `json:"stages,omitempty" yaml:"stages,omitempty" of:"multi_stage"`
	RequireAll        *bool     `json:"require_all,omitempty" yaml:"require_all,omitempty" of:"multi_stage"` // nil: true
}

// Stage is one step of a multi_stage verification.
type Stage struct {
	Name     string        `json:"name,omitempty" yaml:"name,omitempty"`     // empty: "unnamed"
	Method   Method        `json:"method,omitempty" yaml:"method,omitempty"` // empty: string_match
	Config   *Verification `json:"config,omitempty" yaml:"config,omitempty"`
	Required *bool         `json:"required,omitempty" yaml:"required,omitempty"` // nil: true; false: it only warns
}

// AcceptanceCriteria in check_for stands for the task's own list.
const AcceptanceCriteria = "{{acceptance_criteria}}"

// Questions are what a semantic verification asks: a list, or one text.
type Questions []string

// UnmarshalJSON reads a list of texts, or one text.
func (q *Questions) UnmarshalJSON(text []byte) error {
	return q.read(func(v any) error { return json.Unmarshal(text, v) })
}

// UnmarshalYAML reads a list of texts, or one text.
func (q *Questions) UnmarshalYAML(unmarshal func(any) error) error { return q.read(unmarshal) }

func (q *Questions) read(unmarshal func(any) error) error {
	var one string
	if unmarshal(&one) == nil {
		*q = Questions{one}
		return nil
	}
	var many []string
	if err := unmarshal(&many); err != nil {
		return fmt.Errorf("check_for must be a list of texts, or %q", AcceptanceCriteria)
	}
	*q = many
	return nil
}

// Of puts the acceptance criteria where they are meant.
func (q Questions) Of(acceptance []string) []string {
	var out []string
	for _, text := range q {
		if text == AcceptanceCriteria {
			out = append(out, acceptance...)
			continue
		}
		out = append(out, text)
	}
	return out
}

// Externals are the verifications by commands that a promise does not hold without, in their order.
func (c Criteria) Externals() (all []*Verification) {
	switch v := c.Config; {
	case v == nil:
	case c.Method == External || c.Method == "" && v.Command != "":
		all = append(all, v)
	case c.Method == MultiStage:
		for _, s := range v.Stages {
			if s.Method == External && s.Config != nil && (s.Required == nil || *s.Required) {
				all = append(all, s.Config)
			}
		}
	}
	return all
}

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
	out := *cmp.Or(c, &Criteria{})
	if strings.TrimSpace(out.Promise) == "" {
		out.Promise = role.Promise()
	}
	out.Description = cmp.Or(out.Description, fmt.Sprintf("Complete %s stage for: %s", role, title))
	config := *cmp.Or(out.Config, &Verification{})
	out.Method = cmp.Or(out.Method, config.method(def))
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
	}
	return cmp.Or(def, StringMatch)
}

// Merge returns under with the values of over: outcome, acceptance criteria and each key of each role. It changes
// neither. A verification_config is one value: the fields of a method belong together. Another method without a config
// has no config.
func Merge(under, over *Completion) *Completion {
	if under == nil || over == nil {
		return cmp.Or(under, over)
	}
	out := *under
	out.Outcome = cmp.Or(over.Outcome, under.Outcome)
	if len(over.Acceptance) > 0 {
		out.Acceptance = over.Acceptance
	}
	for _, r := range Roles {
		out.Set(r, mergeCriteria(under.For(r), over.For(r)))
	}
	return &out
}

func mergeCriteria(under, over *Criteria) *Criteria {
	if under == nil || over == nil {
		return cmp.Or(under, over)
	}
	out := *under
	out.Promise, out.Description = cmp.Or(over.Promise, under.Promise), cmp.Or(over.Description, under.Description)
	out.MaxIterations = cmp.Or(over.MaxIterations, under.MaxIterations)
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
