package check

import (
	"regexp"
	"slices"
)

// silencers match what keeps a tool from speaking of one place, by kind.
var silencers = map[string]*regexp.Regexp{
	"nolint":            regexp.MustCompile(`//\s*nolint\b|//\s*#nosec\b|//lint:ignore\b`),
	"noqa":              regexp.MustCompile(`#\s*(?i:noqa)\b|#\s*pylint:\s*disable|#\s*type:\s*ignore|#\s*pyright:\s*ignore|#\s*pragma:\s*no cover|#\s*nosec\b`),
	"eslint-disable":    regexp.MustCompile(`\beslint-disable|@ts-(?:ignore|expect-error|nocheck)\b|(?:istanbul|c8|v8) ignore\b|biome-ignore\b`),
	"allow":             regexp.MustCompile(`#!?\[\s*(?:allow|expect)\(`),
	"SuppressWarnings":  regexp.MustCompile(`@Suppress(?:Warnings|FBWarnings|Lint)?\(|//\s*NOSONAR|//\s*noinspection`),
	"rubocop:disable":   regexp.MustCompile(`rubocop:\s*(?:disable|todo)|:nocov:`),
	"phpstan-ignore":    regexp.MustCompile(`@phpstan-ignore|phpcs:(?:ignore|disable)|@psalm-suppress|@codeCoverageIgnore`),
	"pragma":            regexp.MustCompile(`#pragma warning disable|\[SuppressMessage\(|\[ExcludeFromCodeCoverage`),
	"shellcheck":        regexp.MustCompile(`#\s*shellcheck disable`),
	"|| true":           regexp.MustCompile(`\|\|\s*(?:true|:|exit 0)(?:\s|$|["';)])|;\s*(?:true|exit 0)\s*["']?\s*$|^\s*set \+e\b`),
	"continue-on-error": regexp.MustCompile(`continue-on-error:\s*true|allow_failure:\s*true|^\t-\S`),
}

// silenced finds added lines that keep a tool quiet. As many lines of the same kind as went away are set against them: they were moved,
// those with the same words first.
func (d *change) silenced() (harms []harm) {
	for _, kind := range sortedKeys(silencers) {
		var added []harm
		var old []string
		for _, f := range d.files {
			shell := kind == "|| true" || kind == "continue-on-error"
			if foreign.MatchString(f.name) || fixtures.MatchString(f.name) || prose.MatchString(f.name) || shell && !isSetting(f.name) {
				continue
			}
			for _, h := range f.hunks {
				for _, l := range h.old {
					if silencers[kind].MatchString(clip(l.text)) {
						old = append(old, silencing(l))
					}
				}
				for _, l := range h.new {
					if silencers[kind].MatchString(clip(l.text)) {
						added = append(added, harm{kind: silenced, file: f.name, line: l.n, message: silencing(l)})
					}
				}
			}
		}
		added = slices.DeleteFunc(added, func(h harm) bool {
			i := slices.Index(old, h.message)
			if i >= 0 {
				old = slices.Delete(old, i, i+1)
			}
			return i >= 0
		})
		harms = append(harms, added[min(len(old), len(added)):]...)
	}
	return harms
}

func silencing(l line) string { return "silences what judges: " + quote(l.text) }
