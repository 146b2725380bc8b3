package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// width is how many characters a line may have.
const width = 120

// measured is what was found in a module.
type measured struct {
	figures figures
	total   total
}

// measure reads the Go files below root. Names are as seen from there: "internal/loop", "internal/loop/next.go",
// "internal/loop.(*State).With".
func measure(root string) (measured, error) {
	m := measurement{found: measured{figures: figures{}}}
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
		return measured{}, fmt.Errorf("reading the code: %w", err)
	}
	t := &m.found.total
	if t.Lines > 0 && m.code > 0 {
		t.Comments = math.Round(100*float64(m.comments)/float64(m.code)) / 100
		t.Long = math.Round(1000*float64(m.long)/float64(t.Lines)) / 1000
	}
	if err := resolve(root, m.found.figures, m.selected); err != nil {
		return measured{}, err
	}
	return m.found, nil
}

// measurement is what is summed up over the files.
type measurement struct {
	found                measured
	comments, code, long int
	selected             []selection
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
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, data, parser.ParseComments)
	if err != nil {
		return err
	}
	f := m.found.figures
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	long := 0
	for _, line := range lines {
		if utf8.RuneCountInString(line) > width {
			long++
		}
	}
	f.add("long lines", name, long)
	if !strings.HasSuffix(name, "_test.go") {
		f.add("room lines", path.Dir(name), len(lines))
		for _, declaration := range tree.Decls {
			readDeclaration(f, files, path.Dir(name), declaration)
		}
	}
	m.selections(path.Dir(name), tree)
	if !production(name) {
		return nil
	}
	f.add("requirement numbers", path.Dir(name), numbers(tree))
	m.found.total.Lines += len(lines)
	m.long += long
	comments := 0
	for _, group := range tree.Comments {
		comments += files.Position(group.End()).Line - files.Position(group.Pos()).Line + 1
	}
	blank := 0
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			blank++
		}
	}
	m.comments += comments
	m.code += len(lines) - blank - comments
	return nil
}

func readDeclaration(f figures, files *token.FileSet, dir string, declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		name := dir + "." + d.Name.Name
		if d.Recv != nil {
			name = fmt.Sprintf("%s.(%s).%s", dir, receiver(d.Recv.List[0].Type), d.Name.Name)
		}
		f.add("function lines", name, files.Position(d.End()).Line-files.Position(d.Pos()).Line+1)
		f.add("parameters", name, d.Type.Params.NumFields())
	case *ast.GenDecl:
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
}

func receiver(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return "*" + receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
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

// roomOf is the room of "internal/loop.State".
func roomOf(name string) string {
	dir, last := path.Split(name)
	room, _, _ := strings.Cut(last, ".")
	return dir + room
}
