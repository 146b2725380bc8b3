package safetext

import (
	"strings"
)

const container = `[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*`

// definition is "[name]: address "title"", of which a reader sees nothing.
var definition = lazy(`(?m)^(` + container +
	`)\[((?:[^\[\]\\\n]|\\[^\n]|\n[ \t>]*[^ \t\n\[\]])+)\]:[ \t]*\n?[ \t>]*(<[^<>\n]*>|[^\s<]\S*)(?:(?:[ \t]+|[ \t]*\n[ \t>]*)` + title + `)?[ \t]*$`)

// footnote begins a note that shows only where something refers to it.
var footnote = lazy(`^` + container + `\[\^([^\]\s]+)\]:`)

// reference is a footnote's mark in the text.
var reference = lazy(`\[\^([^\]\s]+)\](?:[^:]|$)`)

// dropDefinitions takes titles out of link definitions, and drops those that nothing in the text refers to:
// "[//]: # (like this)" is a comment by another name.
func (r *reading) dropDefinitions(s string) string {
	if !strings.Contains(s, "]:") {
		return s
	}
	o := r.outline(s)
	found := definition.FindAllStringSubmatchIndex(s, -1)
	var body strings.Builder // the text without its definitions
	at := 0
	for _, f := range found {
		body.WriteString(s[at:f[0]])
		at = f[1]
	}
	body.WriteString(s[at:])
	used := labels(body.String())

	var out strings.Builder
	at = 0
	for _, f := range found {
		label := s[f[4]:f[5]]
		if _, code := o.codeAt(f[4]); code || !o.refs[refName(label)] {
			continue
		}
		out.WriteString(s[at:f[0]])
		at = f[1]
		out.WriteString(s[f[2]:f[3]]) // the quote or list it is in
		if address := s[f[6]:f[7]]; !strings.Contains(address, " ") && used[foldLabel(label)] {
			out.WriteString("[" + label + "]: " + address)
		}
	}
	out.WriteString(s[at:])
	return out.String()
}

// labels are the texts in square brackets that have none in them.
func labels(s string) map[string]bool {
	found := map[string]bool{}
	open := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			open = i + 1
		case ']':
			if open >= 0 {
				found[foldLabel(s[open:i])] = true
			}
			open = -1
		}
	}
	return found
}

func foldLabel(s string) string { return strings.ToLower(OneLine(s)) }

// dropFootnotes drops notes without a reference, each to the end of its paragraph and the indented ones behind it.
func (r *reading) dropFootnotes(s string) string {
	if !strings.Contains(s, "[^") || !strings.Contains(s, "]:") {
		return s
	}
	o := r.outline(s)
	referred := map[string]bool{}
	for _, m := range reference.FindAllStringSubmatch(s, -1) {
		referred[m[1]] = true
	}
	lines := strings.SplitAfter(s, "\n")
	var out []string
	pos := 0
	dropping, afterBlank := false, true
	for _, line := range lines {
		blank := strings.TrimSpace(line) == ""
		if afterBlank && !blank && line[0] != ' ' && line[0] != '\t' {
			dropping = false
		}
		afterBlank = blank
		if m := footnote.FindStringSubmatch(line); m != nil {
			_, code := o.codeAt(pos + len(m[0]) - 1)
			dropping = !code && !referred[m[1]]
		}
		if !dropping || blank {
			out = append(out, line)
		}
		pos += len(line)
	}
	return strings.Join(out, "")
}
