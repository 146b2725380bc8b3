package fake

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// field is one selected field of a query.
type field struct {
	alias, name string
	on          string // of a part that is for one type alone, "... on IssueComment { }": that type; it has no name
	args        map[string]any
	sub         []field
}

var graphqlToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\.\.\.|[A-Za-z_]\w*|-?\d+(?:\.\d+)?|[{}()\[\]:$!=@]`)

// parser reads one operation without directives and with fragments in place only, which is all that the stand-in
// understands.
type parser struct {
	tokens    []string
	variables map[string]any
	err       error
}

// parseQuery reads an operation: its kind (query or mutation) and what it selects, with the values of the variables in
// place.
func parseQuery(query string, variables map[string]any) (kind string, fields []field, err error) {
	p := &parser{tokens: graphqlToken.FindAllString(query, -1), variables: variables}
	kind = "query"
	if p.peek() != "{" {
		kind = p.next()
		for p.peek() != "{" && p.peek() != "" { // the name and the variables' types
			if p.next() == "(" {
				p.skipTo(")")
			}
		}
	}
	if kind != "query" && kind != "mutation" {
		return "", nil, fmt.Errorf("a query or a mutation was expected, not %q", kind)
	}
	fields = p.selection()
	if p.err == nil && p.peek() != "" {
		p.fail("the end")
	}
	return kind, fields, p.err
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 || p.err != nil {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *parser) skipTo(end string) {
	for t := p.next(); t != end && t != ""; t = p.next() {
	}
}

func (p *parser) fail(wanted string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s was expected, not %q", wanted, p.peek())
	}
}

func (p *parser) want(token string) {
	if p.next() != token {
		p.fail(token)
	}
}

func (p *parser) selection() []field {
	p.want("{")
	var fields []field
	for p.peek() != "}" {
		if p.peek() == "..." {
			p.want("...")
			p.want("on")
			f := field{on: p.word()}
			if f.sub = p.selection(); p.err != nil {
				return nil
			}
			fields = append(fields, f)
			continue
		}
		f := field{name: p.word()}
		f.alias = f.name
		if p.peek() == ":" {
			p.want(":")
			f.name = p.word()
		}
		if p.peek() == "(" {
			f.args = p.object("(", ")")
		}
		if p.peek() == "{" {
			f.sub = p.selection()
		}
		if p.err != nil {
			return nil
		}
		fields = append(fields, f)
	}
	p.want("}")
	return fields
}

func (p *parser) word() string {
	t := p.next()
	if t == "" || (t[0] != '_' && (t[0]|0x20 < 'a' || t[0]|0x20 > 'z')) {
		p.fail("a name")
	}
	return t
}

func (p *parser) object(begin, end string) map[string]any {
	p.want(begin)
	o := map[string]any{}
	for p.peek() != end && p.err == nil {
		name := p.word()
		p.want(":")
		o[name] = p.value()
	}
	p.want(end)
	return o
}

func (p *parser) value() any {
	switch t := p.peek(); t {
	case "{":
		return p.object("{", "}")
	case "[":
		p.want("[")
		list := []any{}
		for p.peek() != "]" && p.err == nil {
			list = append(list, p.value())
		}
		p.want("]")
		return list
	case "$":
		p.want("$")
		return p.variables[p.word()]
	default:
		p.next()
		var v any
		if json.Unmarshal([]byte(t), &v) != nil { // a word of an enumeration
			v = t
		}
		return v
	}
}
