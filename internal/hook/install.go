package hook

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ralph-loop/ralph/internal/shell"
)

// MostSettings is how long a settings file may be, in bytes.
const MostSettings = 1 << 20

// Install puts the hooks into an agent's settings: text is the content of the file, nil if it does not exist.
// Everything else keeps its order, comments and indentation. A hook of ours that already exists is kept or updated; it
// never exists twice. done says what was done, one line a hook; when nothing was, out is text.
func Install(agent, program string, text []byte) (out []byte, done []string, err error) {
	w, ok := wirings[agent]
	if !ok {
		_, err := File(agent, false)
		return nil, nil, err
	}
	f, err := parseSettings(text)
	if err != nil {
		return nil, nil, err
	}
	hooks, ok := f.member(f.tree.Value.(*hujson.Object), "hooks", &hujson.Object{}, 1).Value.(*hujson.Object)
	if !ok {
		return nil, nil, errors.New(`its "hooks" is no object; fix it, then run ralph hook install again`)
	}
	changed := false
	for _, kind := range Kinds {
		what, err := f.put(hooks, w, program, kind)
		if err != nil {
			return nil, nil, err
		}
		changed = changed || what != "is there"
		done = append(done, fmt.Sprintf("%s: %s %s", w.events[kind], Command(program, kind, false), what))
	}
	if !changed {
		return text, done, nil
	}
	return f.tree.Pack(), done, nil
}

// settings are an agent's settings file, as a tree that keeps what no program reads.
type settings struct {
	tree   hujson.Value
	indent string
}

var firstIndent = lazy(`\{\r?\n([ \t]+)["/]`)

func parseSettings(text []byte) (*settings, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if len(text) > MostSettings || bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 10_000 {
		return nil, errors.New("it is too long for a settings file; nothing is changed")
	}
	tree, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON (%w); fix it, then run ralph hook install again", err)
	}
	if _, ok := tree.Value.(*hujson.Object); !ok {
		return nil,
			errors.New("it must hold a JSON object in braces. Fix it, then run ralph hook install again")
	}
	f := &settings{tree: tree, indent: "  "}
	if found := firstIndent.Regexp().FindSubmatch(text); found != nil {
		f.indent = string(found[1])
	}
	return f, nil
}

// member finds a member of an object, and adds an empty one at a depth of indentation when it does not exist.
func (f *settings) member(o *hujson.Object, name string, empty hujson.ValueTrimmed, depth int) *hujson.Value {
	if found := (&hujson.Value{Value: o}).Find("/" + name); found != nil {
		return found
	}
	var before hujson.Extra
	before, o.AfterExtra = f.place(o.AfterExtra, depth)
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: empty},
	})
	return &o.Members[len(o.Members)-1].Value
}

// place says what comes before something that is put at an end, and what comes after it: comments that were there stay
// before it.
func (f *settings) place(end hujson.Extra, depth int) (before, after hujson.Extra) {
	comments := bytes.TrimRight(end, " \t\r\n")
	return append(bytes.Clone(comments), f.line(depth)...), f.line(depth - 1)
}

func (f *settings) line(depth int) hujson.Extra {
	return hujson.Extra("\n" + strings.Repeat(f.indent, depth))
}

// put brings one hook in, and says what it did.
func (f *settings) put(hooks *hujson.Object, w wiring, program, kind string) (string, error) {
	event, want := w.events[kind], Command(program, kind, false)
	list, ok := f.member(hooks, event, &hujson.Array{}, 2).Value.(*hujson.Array)
	if !ok {
		return "", fmt.Errorf("its hooks.%s is no list; fix it, then run ralph hook install again", event)
	}
	what := ""
	for _, command := range commands(list) {
		at, is := command.Value.(hujson.Literal)
		switch {
		case !is || at.Kind() != '"' || !calls(at.String(), kind):
		case what != "": // twice already: whose hand that was is not ours to say
		case at.String() == want:
			what = "is there"
		default:
			command.Value = hujson.String(want)
			what = "is brought up to date"
		}
	}
	if what != "" {
		return what, nil
	}
	text, err := encoded(w.matcher(program, kind, false), strings.Repeat(f.indent, 3), f.indent)
	if err != nil {
		return "", err
	}
	added, err := hujson.Parse(text)
	if err != nil {
		return "", err
	}
	added.BeforeExtra, list.AfterExtra = f.place(list.AfterExtra, 3)
	list.Elements = append(list.Elements, added)
	return "is added", nil
}

// commands are the commands of an event's list.
func commands(list *hujson.Array) (all []*hujson.Value) {
	for i := range list.Elements {
		for j := 0; list.Elements[i].Find(fmt.Sprintf("/hooks/%d", j)) != nil; j++ {
			if command := list.Elements[i].Find(fmt.Sprintf("/hooks/%d/command", j)); command != nil {
				all = append(all, command)
			}
		}
	}
	return all
}

// calls reports whether a line calls ralph for a hook, wherever that ralph is.
func calls(line, kind string) bool {
	script, err := shell.Read(line, "", "")
	return err == nil && slices.ContainsFunc(script.Calls, func(c shell.Call) bool {
		return c.Name == "ralph" && len(c.Args) > 1 && c.Args[0] == "hook" && c.Args[1] == kind
	})
}
