package task

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// decoder puts a text's nodes into the structs of the form. The yaml tags of their fields are the keys that are
// allowed.
type decoder struct {
	source
	mistakes []error
	places   map[string]*node // where each key's value stands
}

// kept are keys of a task that other programs store, and ralph task show --json prints. They are passed over: what they say
// is in the journals.
var kept = []string{"status", "file", "iteration", "assignee", "created_at", "updated_at", "metadata"}

// mayBeEmpty are the keys whose text may be empty.
var mayBeEmpty = []string{"description", "spec_id", "model"}

// fromOne are the numbers that are no 0.
var fromOne = []string{"max_iterations", "timeout"}

func (d *decoder) wrong(n *node, key, format string, args ...any) {
	d.mistakes = append(d.mistakes, d.at(n.line, n.col, "%s "+format, append([]any{key}, args...)...))
}

// read puts n into v, a settable value; key is how the value is called in a message.
func (d *decoder) read(n *node, v reflect.Value, key string) {
	d.places[key] = n
	if v.Type() == reflect.TypeFor[Questions]() && n.kind != aList {
		d.question(n, v, key)
		return
	}
	if n.kind == nothing && v.Kind() != reflect.String {
		return // as if it did not exist: "max_iterations: null"
	}
	switch v.Kind() {
	case reflect.Pointer:
		made := reflect.New(v.Type().Elem())
		d.read(n, made.Elem(), key)
		v.Set(made)
	case reflect.Struct:
		d.object(n, v, key)
	case reflect.Slice:
		d.list(n, v, key)
	case reflect.String:
		d.text(n, v, key)
	case reflect.Int:
		whole, err := strconv.Atoi(n.text)
		if n.kind != aNumber || err != nil {
			d.wrong(n, key, "is %s; must be a whole number", found(n))
			return
		}
		if whole == 0 && slices.Contains(fromOne, lastOf(key)) {
			d.wrong(n, key, "is 0; must be a number from 1, or leave it out")
		}
		v.SetInt(int64(whole))
	case reflect.Bool:
		if n.kind != aTruth {
			d.wrong(n, key, "is %s; must be true or false", found(n))
			return
		}
		v.SetBool(strings.EqualFold(n.text, "true"))
	}
}

func (d *decoder) text(n *node, v reflect.Value, key string) {
	switch n.kind {
	case aText, aNumber, aTruth: // 001 and true are texts where a text is needed
		// an escape may have put in what the file does not show
		if said := safetext.Visible(n.text); strings.TrimSpace(said) != "" {
			v.SetString(said)
			return
		}
	case nothing:
	default:
		d.wrong(n, key, "is %s; must be a text", n.kind)
		return
	}
	if !slices.Contains(mayBeEmpty, lastOf(key)) {
		d.wrong(n, key, "is empty; give it a text, or leave it out")
	}
}

func (d *decoder) question(n *node, v reflect.Value, key string) {
	one := reflect.New(reflect.TypeFor[string]()).Elem()
	if n.kind == nothing {
		return
	}
	if n.kind == anObject {
		d.wrong(n, key, "is an object; must be a list of strings, or %q", AcceptanceCriteria)
		return
	}
	d.text(n, one, key)
	v.Set(reflect.ValueOf(Questions{one.String()}))
}

func (d *decoder) list(n *node, v reflect.Value, key string) {
	if n.kind != aList {
		d.wrong(n, key, "is %s; must be a list", found(n))
		return
	}
	if len(n.items) == 0 {
		return // as if it did not exist
	}
	made := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		d.read(item, made.Index(i), fmt.Sprintf("%s[%d]", key, i+1))
	}
	v.Set(made)
}

func (d *decoder) object(n *node, v reflect.Value, key string) {
	if n.kind != anObject {
		d.wrong(n, strings.TrimPrefix(key, "."), "is %s; must be an object with the keys %s", found(n),
			safetext.Listed(keysOf(v.Type())))
		return
	}
	seen := map[string]bool{}
	for _, e := range n.keys {
		at := &node{line: e.line, col: e.col}
		name := below(key, e.name)
		field := fieldOf(v.Type(), e.name)
		switch {
		case seen[e.name]:
			d.wrong(at, name, "is here twice; remove one")
		case field >= 0:
			d.read(e.value, v.Field(field), name)
		case key == "" && slices.Contains(kept, e.name):
		default:
			d.wrong(at, below(key, strings.Trim(safetext.Quoted(e.name), `"`)), "is an unknown key; must be one of %s%s",
				safetext.Listed(keysOf(v.Type())), meant(e.name, keysOf(v.Type())))
		}
		seen[e.name] = true
	}
}

// place is where a key's value stands; of a key that does not exist, where it would.
func (d *decoder) place(key string) (line, col int) {
	for {
		if n, ok := d.places[key]; ok {
			return n.line, n.col
		}
		if key == "" {
			return 0, 0
		}
		key = key[:max(0, strings.LastIndexAny(key, ".["))]
	}
}

func lastOf(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

func below(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func found(n *node) string {
	if n.kind == aText || n.kind == aNumber || n.kind == aTruth {
		return safetext.Quoted(n.text)
	}
	return string(n.kind)
}

// keysOf are the keys of a struct of the form, in their order.
func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		keys = append(keys, name)
	}
	return keys
}

func fieldOf(t reflect.Type, key string) int { return slices.Index(keysOf(t), key) }

// Map is a copy with f applied to every text in it: to take secrets out before it is stored. A nil completion stays
// nil.
func (c *Completion) Map(f func(string) string) *Completion {
	if c == nil {
		return nil
	}
	out := &Completion{Outcome: f(c.Outcome), Acceptance: safetext.Map(c.Acceptance, f)}
	for _, r := range Roles {
		of := c.For(r)
		if of == nil {
			continue
		}
		copied := *of
		copied.Promise, copied.Description, copied.Config = f(of.Promise), f(of.Description), of.Config.mapped(f)
		out.Set(r, &copied)
	}
	return out
}

func (v *Verification) mapped(f func(string) string) *Verification {
	if v == nil {
		return nil
	}
	out := *v
	out.CheckFor, out.NegativePatterns = safetext.Map(v.CheckFor, f), safetext.Map(v.NegativePatterns, f)
	out.Command, out.OutputContains, out.OutputNotContains = f(v.Command), f(v.OutputContains), f(v.OutputNotContains)
	out.Model, out.WorkingDir = f(v.Model), f(v.WorkingDir)
	out.Stages = append([]Stage(nil), v.Stages...)
	for i := range out.Stages {
		s := &out.Stages[i]
		s.Name, s.Config = f(s.Name), s.Config.mapped(f)
	}
	return &out
}

// Needs are the ids of all tasks that a task depends on, directly or through others, in the order in which they are
// listed.
func Needs(t Task, listed []Task) (ids []string) {
	need := map[string]bool{}
	var add func(t Task)
	add = func(t Task) {
		for _, id := range t.Dependencies {
			i := slices.IndexFunc(listed, func(other Task) bool { return other.ID == id })
			if i >= 0 && !need[id] {
				need[id] = true
				add(listed[i])
			}
		}
	}
	add(t)
	for _, other := range listed {
		if need[other.ID] {
			ids = append(ids, other.ID)
		}
	}
	return ids
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

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }
