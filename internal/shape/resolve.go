package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// resolve adds what needs types: which files of a package call each other in a circle, and which exported names only
// their own package uses. selected are the names that files take from elsewhere, those of other systems and of tests
// among them.
func resolve(root string, f figures, selected []selection) error {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile,
		Dir: root,
	}, "./...")
	if err != nil {
		return fmt.Errorf("loading packages: %w", err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	others := map[string]map[string]bool{} // name → directories that take it
	for _, s := range selected {
		if others[s.name] == nil {
			others[s.name] = map[string]bool{}
		}
		others[s.name][s.dir] = true
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return fmt.Errorf("loading %s: %w", p.PkgPath, p.Errors[0])
		}
		if len(p.GoFiles) == 0 {
			continue
		}
		dir, err := filepath.Rel(top, filepath.Dir(p.GoFiles[0]))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		f.add("files in a circle", dir, inCircles(calls(p)))
		for _, name := range internal(p, dir, others) {
			f.set("exported but internal", dir+"."+name, 1)
		}
	}
	return nil
}

// calls are the static calls between the files of a package: from a file to those whose functions and methods it calls.
func calls(p *packages.Package) map[string]map[string]bool {
	graph := map[string]map[string]bool{}
	for _, tree := range p.Syntax {
		from := p.Fset.Position(tree.Pos()).Filename
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			called, ok := callee(p.TypesInfo, call).(*types.Func)
			if !ok || called.Pkg() != p.Types {
				return true
			}
			to := p.Fset.Position(called.Origin().Pos()).Filename
			if to != from && !throughInterface(called) {
				if graph[from] == nil {
					graph[from] = map[string]bool{}
				}
				graph[from][to] = true
			}
			return true
		})
	}
	return graph
}

func callee(info *types.Info, call *ast.CallExpr) types.Object {
	fun := ast.Unparen(call.Fun)
	switch indexed := fun.(type) { // generic
	case *ast.IndexExpr:
		fun = indexed.X
	case *ast.IndexListExpr:
		fun = indexed.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return info.Uses[f]
	case *ast.SelectorExpr:
		return info.Uses[f.Sel]
	}
	return nil
}

func throughInterface(f *types.Func) bool {
	recv := f.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// inCircles counts the files that can be reached from themselves.
func inCircles(graph map[string]map[string]bool) int {
	n := 0
	for start := range graph {
		seen := map[string]bool{}
		next := []string{start}
		for len(next) > 0 && !seen[start] {
			at := next[0]
			next = next[1:]
			for to := range graph[at] {
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

// internal are the exported names of a package that no other directory takes. What is part of something taken is taken:
// the types in its signature, fields and methods, and the constants of its type.
func internal(p *packages.Package, dir string, others map[string]map[string]bool) []string {
	if p.Name == "main" {
		return nil
	}
	scope := p.Types.Scope()
	taken := map[types.Object]bool{}
	for _, name := range scope.Names() {
		object := scope.Lookup(name)
		for from := range others[name] {
			if from != dir && object.Exported() {
				markUsed(object, p.Types, taken)
			}
		}
	}
	var found []string
	for _, name := range scope.Names() {
		object := scope.Lookup(name)
		if object.Exported() && !taken[object] && !constantOf(object, taken) {
			found = append(found, name)
		}
	}
	return found
}

// constantOf reports whether object is a constant of a type that is taken.
func constantOf(object types.Object, taken map[types.Object]bool) bool {
	constant, ok := object.(*types.Const)
	if !ok {
		return false
	}
	named, ok := types.Unalias(constant.Type()).(*types.Named)
	return ok && taken[named.Obj()]
}

func markUsed(object types.Object, home *types.Package, taken map[types.Object]bool) {
	if taken[object] {
		return
	}
	taken[object] = true
	if _, ok := object.(*types.TypeName); !ok {
		markType(object.Type(), home, taken)
		return
	}
	markType(object.Type().Underlying(), home, taken)
	if named, ok := types.Unalias(object.Type()).(*types.Named); ok {
		for method := range named.Methods() {
			if method.Exported() {
				markType(method.Signature(), home, taken)
			}
		}
	}
}

// markType marks the exported types of home that stand in t.
func markType(t types.Type, home *types.Package, taken map[types.Object]bool) {
	switch t := t.(type) {
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			markType(arg, home, taken)
		}
		if t.Obj().Pkg() == home {
			markUsed(t.Obj(), home, taken)
		}
	case *types.Alias:
		markType(types.Unalias(t), home, taken)
	case *types.Pointer:
		markType(t.Elem(), home, taken)
	case *types.Slice:
		markType(t.Elem(), home, taken)
	case *types.Array:
		markType(t.Elem(), home, taken)
	case *types.Chan:
		markType(t.Elem(), home, taken)
	case *types.Map:
		markType(t.Key(), home, taken)
		markType(t.Elem(), home, taken)
	case *types.Tuple:
		for v := range t.Variables() {
			markType(v.Type(), home, taken)
		}
	case *types.Signature:
		markType(t.Params(), home, taken)
		markType(t.Results(), home, taken)
	case *types.Struct:
		for v := range t.Fields() {
			if v.Exported() || v.Embedded() {
				markType(v.Type(), home, taken)
			}
		}
	case *types.Interface:
		for method := range t.Methods() {
			markType(method.Signature(), home, taken)
		}
	}
}
