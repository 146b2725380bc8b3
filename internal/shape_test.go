package internal_test

import (
	"cmp"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// shape is what ceilings.json allows beyond what every package may have: no file in a circle, 60 methods of a type and 15
// fields of a struct.
type shape struct {
	Circles map[string]int `json:"circles"` // files of a package that use each other in a circle, by package
	Methods map[string]int `json:"methods"` // by type: "internal/git.Tree"
	Fields  map[string]int `json:"fields"`  // by struct
}

const mostMethods, mostFields = 60, 15

// TestShape holds what makes code hard to take apart: files that use each other's names in a circle, types of many
// methods and structs of many fields. All of it only falls.
func TestShape(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Dir: "..", Mode: packages.NeedName | packages.NeedImports | packages.NeedTypes |
		packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile}, "./cmd/...", "./internal/...")
	noError(t, err)
	found := shape{map[string]int{}, map[string]int{}, map[string]int{}}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatalf("%s: %v", p.PkgPath, p.Errors[0])
		}
		name := strings.TrimPrefix(p.PkgPath, module)
		if strings.HasPrefix(name, "internal/fake") || len(p.Syntax) == 0 {
			continue
		}
		if n := inCircles(uses(p)); n > 0 {
			found.Circles[name] = n
		}
		for _, of := range p.Types.Scope().Names() {
			named, ok := p.Types.Scope().Lookup(of).Type().(*types.Named)
			if !ok || named.Obj().Name() != of {
				continue
			}
			if n := named.NumMethods(); n > mostMethods {
				found.Methods[name+"."+of] = n
			}
			if s, ok := named.Underlying().(*types.Struct); ok && s.NumFields() > mostFields {
				found.Fields[name+"."+of] = s.NumFields()
			}
		}
	}
	allowed := readCeilings(t)
	if lowering() {
		allowed.Shape = found
		writeCeilings(t, allowed)
		return
	}
	for _, of := range []struct {
		what           string
		found, allowed map[string]int
		says           string
	}{
		{"files in circles", found.Circles, allowed.Shape.Circles, "let files of a package use names in one direction"},
		{"methods", found.Methods, allowed.Shape.Methods, "make several types of it"},
		{"fields", found.Fields, allowed.Shape.Fields, "make several types of it"},
	} {
		for _, name := range slices.Sorted(maps.Keys(of.found)) {
			if n := of.found[name]; n > of.allowed[name] {
				t.Errorf("%s: %d %s, at most %d: %s", name, n, of.what, of.allowed[name], of.says)
			}
		}
	}
}

// uses are the files of a package by those whose names they use.
func uses(p *packages.Package) map[string]map[string]bool {
	graph := map[string]map[string]bool{}
	for name, object := range p.TypesInfo.Uses {
		switch o := object.(type) { // of something generic, where it is written
		case *types.Func:
			object = o.Origin()
		case *types.Var:
			object = o.Origin()
		}
		from, to := p.Fset.File(name.Pos()).Name(), ""
		if object.Pkg() == p.Types && object.Pos().IsValid() {
			to = p.Fset.File(object.Pos()).Name()
		}
		if from, to = filepath.Base(from), filepath.Base(cmp.Or(to, from)); from != to {
			if graph[from] == nil {
				graph[from] = map[string]bool{}
			}
			graph[from][to] = true
		}
	}
	return graph
}

// inCircles counts the files that can be reached from themselves.
func inCircles(graph map[string]map[string]bool) (n int) {
	for start := range graph {
		seen := map[string]bool{}
		for next := []string{start}; len(next) > 0 && !seen[start]; next = next[1:] {
			for to := range graph[next[0]] {
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		if seen[start] {
			n++
		}
	}
	return n
}
