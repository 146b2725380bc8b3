package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// figures holds numbers by kind and name: figures["room lines"]["internal/loop"].
type figures map[string]map[string]int

// bars are the kinds of figure and what each may be without being recorded.
var bars = []struct {
	kind string
	most int
	says string
}{
	{"files in a circle", 0, "let files of a package call downwards only"},
	{"struct fields", 15, "make several types of it"},
	{"requirement numbers", 0, "say the rule in words"},
	{"exported but internal", 0, "unexport what only its own package uses"},
}

// record is what the file holds: the figures beyond their bars.
type record struct {
	Figures figures `json:"figures"`
}

func readRecord(file string) (record, error) {
	var r record
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("reading the recorded figures: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("reading the recorded figures in %s: %w", file, err)
	}
	return r, nil
}

func writeRecord(file string, r record) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// newRecord is the record after a measurement.
func newRecord(found figures) record {
	next := record{Figures: figures{}}
	for _, bar := range bars {
		for name, n := range found[bar.kind] {
			if n > bar.most {
				next.Figures.set(bar.kind, name, n)
			}
		}
	}
	return next
}

// compare says what is worse than both its bar and the record, and counts what is better than the record.
func (r record) compare(found figures) (worse []string, better int) {
	for _, bar := range bars {
		known, now := r.Figures[bar.kind], found[bar.kind]
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if most := max(bar.most, known[name]); now[name] > most {
				worse = append(worse, fmt.Sprintf("%s: %s: %d, at most %d: %s", bar.kind, name, now[name], most, bar.says))
			}
		}
		for name, n := range known {
			if now[name] < n {
				better++
			}
		}
	}
	return worse, better
}

func (f figures) set(kind, name string, n int) {
	if f[kind] == nil {
		f[kind] = map[string]int{}
	}
	f[kind][name] = n
}

func (f figures) add(kind, name string, n int) {
	if n > 0 {
		f.set(kind, name, f[kind][name]+n)
	}
}
