package diffscan

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Weakening is one thing that was made weaker.
type Weakening struct {
	File    string
	Line    int // in the new file; 0: the line is gone, or it is about the whole file
	Message string

	kind weakeningKind
}

// weakeningKind is how something was made weaker. The order is that of weight.
type weakeningKind int

const (
	steering weakeningKind = iota
	lowered
	silenced
	asking
	weakeningKinds
)

// counted says what there are n of, of each kind.
var counted = [weakeningKinds][2]string{
	{"place that decides what checks run", "places that decide what checks run"},
	{"threshold or rule lowered", "thresholds or rules lowered"},
	{"warning silenced", "warnings silenced"},
	{"place where code asks whether it is tested", "places where code asks whether it is tested"},
}

// Count says how many there are of each kind: "2 tests deleted, 1 warning silenced".
func Count(weakenings []Weakening) string {
	var n [weakeningKinds]int
	for _, h := range weakenings {
		n[h.kind]++
	}
	var parts []string
	for kind, names := range counted {
		switch {
		case n[kind] == 1:
			parts = append(parts, "1 "+names[0])
		case n[kind] > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n[kind], names[1]))
		}
	}
	return strings.Join(parts, ", ")
}

// aSilencer keeps a tool from speaking of one place.
type aSilencer struct {
	kind    string
	endings string // of the files in which it means something; empty: where settings and commands stand
	code    bool   // it is no comment
	pattern *pattern
}

const scripts = ".js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte "

var silencers = []aSilencer{
	{"nolint", ".go ", false, lazy(`//\s*nolint\b|//\s*#nosec\b|//lint:ignore\b`)},
	{"noqa", ".py .pyi ", false, lazy(
		`#\s*(?:noqa|NOQA)\b|#\s*pylint:\s*disable|#\s*type:\s*ignore|#\s*pyright:\s*ignore|#\s*pragma:\s*no cover|#\s*nosec\b|#\s*ruff:\s*noqa`)},
	{"eslint", scripts, false, lazy(
		`\beslint-disable|@ts-(?:ignore|expect-error|nocheck)\b|(?:istanbul|c8|v8) ignore\b|biome-ignore\b`)},
	{"allow", ".rs ", true, lazy(`^\s*#!?\[\s*(?:allow|expect)\(`)},
	{"suppress", ".java .kt .kts .groovy .scala ", true, lazy(`^\s*@Suppress(?:Warnings|FBWarnings|Lint)?\(`)},
	{"nosonar", ".java .kt .kts .groovy .scala .cs ", false, lazy(`//\s*NOSONAR|//\s*noinspection`)},
	{"rubocop", ".rb ", false, lazy(`rubocop:\s*(?:disable|todo)|:nocov:`)},
	{"phpstan", ".php ", false, lazy(`@phpstan-ignore|phpcs:(?:ignore|disable)|@psalm-suppress|@codeCoverageIgnore`)},
	{"pragma", ".cs ", true, lazy(`^\s*#pragma warning disable|\[SuppressMessage\(|\[ExcludeFromCodeCoverage`)},
	{"shellcheck", ".sh .bash ", false, lazy(`#\s*shellcheck disable`)},
	{"|| true", "", true,
		lazy(
			`\|\|\s*(?:true|:|exit 0)(?:\s|$|["';)])|;\s*(?:true|exit 0)\s*["']?\s*$|^\s*set \+e\b|continue-on-error:\s*true|allow_failure:\s*true|^\t-\S`)},
}

// silenced finds added lines that keep a tool quiet. As many lines of the same kind as went away are set against them:
// they were moved, those with the same words first.
func (d *Change) silenced() (weakenings []Weakening) {
	added, old := map[string][]Weakening{}, map[string][]string{}
	for _, f := range d.files {
		if len(f.hunks) == 0 || foreign.MatchString(f.name) || fixtures.MatchString(f.name) || prose.MatchString(f.name) {
			continue
		}
		setting := isSetting(f.name)
		for _, h := range f.hunks {
			for _, l := range h.old {
				if kind := silencer(f.name, l.text, setting); kind != "" {
					old[kind] = append(old[kind], silencing(l))
				}
			}
			for _, l := range h.new {
				if kind := silencer(f.name, l.text, setting); kind != "" {
					added[kind] = append(added[kind], Weakening{kind: silenced, File: f.name, Line: l.n, Message: silencing(l)})
				}
			}
		}
	}
	for _, kind := range sortedKeys(added) {
		left := map[string]int{}
		for _, message := range old[kind] {
			left[message]++
		}
		gone := len(old[kind])
		fresh := slices.DeleteFunc(added[kind], func(h Weakening) bool {
			left[h.Message]--
			if left[h.Message] >= 0 {
				gone--
				return true
			}
			return false
		})
		weakenings = append(weakenings, fresh[min(gone, len(fresh)):]...)
	}
	return weakenings
}

// hints: one of them is in every line that a silencer matches.
var hints = strings.Fields("nolint nosec lint: noqa NOQA type: isable gnore xpect nocheck cover allow uppress " +
	"NOSONAR noinspection ubocop nocov true || exit continue-on ExcludeFrom +e")

// silencer is the kind of silencer that a line is, empty for other lines.
func silencer(name, text string, setting bool) string {
	text = clip(text)
	if !holdsAny(text, hints) && !strings.HasPrefix(text, "\t-") {
		return ""
	}
	_, comment := splitComment(name, text)
	for _, s := range silencers {
		in := strings.Contains(s.endings, strings.ToLower(path.Ext(name))+" ") && path.Ext(name) != ""
		if s.endings == "" {
			in = setting && !isComment(text)
		}
		if of := map[bool]string{true: text, false: comment}[s.code]; in && s.pattern.MatchString(of) {
			return s.kind
		}
	}
	return ""
}

func silencing(l line) string { return "silences what judges: " + quote(l.text) }
