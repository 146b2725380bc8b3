package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// measure reads the Go files below root. Names are as seen from there: "internal/loop", "internal/loop/next.go",
// "internal/loop.(*State).With".
func measure(root string) (figures, error) {
	m := measurement{found: figures{}}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") && file != root
			if hidden || slices.Contains([]string{"testdata", "bin", "dist"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		return m.readFile(file, filepath.ToSlash(name))
	})
	if err != nil {
		return nil, fmt.Errorf("reading the code: %w", err)
	}
	if err := resolve(root, m.found, m.selected); err != nil {
		return nil, err
	}
	return m.found, nil
}

// measurement is what is summed up over the files.
type measurement struct {
	found    figures
	selected []selection
}

// selection is a name that a file takes from somewhere: Sel in x.Sel. dir is where the file is.
type selection struct{ dir, name string }

// production reports whether a file ships.
func production(name string) bool {
	tooling := slices.ContainsFunc([]string{"internal/fake/", "internal/shape/", "internal/e2e/"}, func(dir string) bool {
		return strings.HasPrefix(name, dir)
	})
	return !tooling && !strings.HasSuffix(name, "_test.go")
}

func (m *measurement) readFile(file, name string) error {
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(name, "_test.go") {
		for _, declaration := range tree.Decls {
			readStructs(m.found, path.Dir(name), declaration)
		}
	}
	m.selections(path.Dir(name), tree)
	if production(name) {
		m.found.add("requirement numbers", path.Dir(name), numbers(tree))
	}
	return nil
}

func readStructs(f figures, dir string, declaration ast.Decl) {
	d, ok := declaration.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range d.Specs {
		t, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		if s, ok := t.Type.(*ast.StructType); ok {
			f.add("struct fields", dir+"."+t.Name.Name, s.Fields.NumFields())
		}
	}
}

// Numbers of requirements say nothing to whoever has no list of them. In texts the short forms may be anything.
var (
	numberInComment = regexp.MustCompile(`\b(S[0-9]{1,2}-[0-9]{1,3}|B-[0-9]{2}|C[0-9]{1,2}|S[0-9])\b`)
	numberInText    = regexp.MustCompile(`\b(S[0-9]{1,2}-[0-9]{1,3}|B-[0-9]{2})\b`)
)

// numbers counts the requirement numbers in a file's comments and texts.
func numbers(tree *ast.File) int {
	n := 0
	for _, group := range tree.Comments {
		for _, c := range group.List {
			n += len(numberInComment.FindAllString(c.Text, -1))
		}
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING {
			n += len(numberInText.FindAllString(text.Value, -1))
		}
		return true
	})
	return n
}

func (m *measurement) selections(dir string, tree *ast.File) {
	ast.Inspect(tree, func(node ast.Node) bool {
		if s, ok := node.(*ast.SelectorExpr); ok && s.Sel.IsExported() {
			m.selected = append(m.selected, selection{dir, s.Sel.Name})
		}
		return true
	})
}
