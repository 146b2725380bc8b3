package hook

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/shell"
)

var alices = Environment{Root: "/src/app", Cwd: "/src/app", Home: "/home/alice"}

func bash(command string) Input {
	return Input{Tool: "Bash", ToolInput: ToolInput{Command: words(command)}}
}

func kind(reason string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(reason, "Refused ("), ")")
	return name
}

// TestDangers: every kind has its examples, which are refused for that kind and no other; what looks like it is
// allowed.
func TestDangers(t *testing.T) {
	if len(examples) != 18 || len(dangers) != 18 {
		t.Fatalf("%d kinds of danger, %d with examples", len(dangers), len(examples))
	}
	for i, e := range examples {
		if dangers[i].name != e.name {
			t.Errorf("danger %d is %s, its examples are of %s", i, dangers[i].name, e.name)
		}
		if len(e.refused) < 5 || len(e.allowed) < 3 {
			t.Errorf("%s has too few examples", e.name)
		}
		w := alices
		w.Run = e.name == "harness" // outside a run there is less to protect
		for _, c := range e.refused {
			if got := kind(Guard(bash(c), w)); got != e.name {
				t.Errorf("%s: %s\nis refused as %q", e.name, c, got)
			}
		}
		for _, c := range e.allowed {
			if got := Guard(bash(c), w); got != "" {
				t.Errorf("%s: %s\nis refused: %s", e.name, c, got)
			}
		}
	}
}

func TestHidden(t *testing.T) {
	for _, command := range hidden {
		if got := kind(Guard(bash(command), alices)); got != "recursive-delete" {
			t.Errorf("%s\nis refused as %q", command, got)
		}
	}
}

// TestDuringARun: ralph commits and pushes itself.
func TestDuringARun(t *testing.T) {
	running := alices
	running.Run = true
	for c, want := range map[string][2]string{ // outside a run, and in one
		`git push`: {"", "history-rewrite"}, `git commit --amend --no-edit`: {"", "history-rewrite"},
		`git rebase main`: {"", "history-rewrite"}, `git rebase --abort`: {}, `git push --dry-run`: {}, `git commit -am x`: {},
		`echo x > ralph/prd.md`: {"", "harness"}, `rm -rf ralph`: {"", "harness"}, `ralph plan run`: {"", "harness"},
		`ralph cancel`: {"harness", "harness"}, `rm -rf .ralph`: {"harness", "harness"},
	} {
		if got := [2]string{kind(Guard(bash(c), alices)), kind(Guard(bash(c), running))}; got != want {
			t.Errorf("%s is refused as %q, want %q", c, got, want)
		}
	}
}

func TestTools(t *testing.T) {
	for _, c := range []struct {
		tool string
		in   ToolInput
		want string
	}{
		{"Write", ToolInput{FilePath: "/src/app/main.go"}, ""},
		{"Write", ToolInput{FilePath: "/src/app/.git/hooks/pre-commit"}, "git-tampering"},
		{"Write", ToolInput{FilePath: "/src/app/x/../.git/config"}, "git-tampering"},
		{"Edit", ToolInput{FilePath: "/home/alice/.bashrc"}, "persistence"},
		{"MultiEdit", ToolInput{FilePath: ".ralph-active"}, "harness"},
		{"Write", ToolInput{FilePath: "ralph/prd.md"}, ""},
		{"Write", ToolInput{FilePath: "ralph/tasks.json"}, ""},
		{"Edit", ToolInput{FilePath: "/src/app/ralph/progress.txt"}, ""},
		{"Write", ToolInput{FilePath: "/src/app/.claude/settings.json"}, "harness"},
		{"write_file", ToolInput{FilePath: ".gemini/settings.json"}, "harness"},
		{"NotebookEdit", ToolInput{NotebookPath: "/etc/x.ipynb"}, "system"},
		{"apply_patch", ToolInput{Command: "*** Begin Patch\n*** Update File: a.go\n@@\n*** Add File: " +
			".git/hooks/x\n+rm\n*** End Patch\n"}, "git-tampering"},
		{"apply_patch", ToolInput{Command: "*** Begin Patch\n*** Update File: a.go\n@@\n+rm -rf /\n*** End Patch\n"}, ""},
		{"Read", ToolInput{FilePath: "/home/alice/.ssh/id_rsa"}, "credentials"},
		{"Read", ToolInput{FilePath: "/src/app/.bashrc"}, ""},
		{"run_shell_command", ToolInput{Command: "rm -rf /"}, "recursive-delete"},
		{"Grep", ToolInput{Command: "rm -rf /"}, ""},
		{"mcp__shell__run", ToolInput{Command: "rm -rf /"}, "recursive-delete"},
		{"mcp__files__write", ToolInput{FilePath: ".ralph-active"}, "harness"},
		{"mcp__files__read", ToolInput{FilePath: ".ralph-active"}, ""},
		{"mcp__files__read", ToolInput{FilePath: "/home/alice/.ssh/id_rsa"}, "credentials"},
		{"unheard_of", ToolInput{Command: "go test ./..."}, ""},
		{"shell", ToolInput{Command: "*** Begin Patch\n*** Delete File: .git/config\n*** End Patch\n"}, "git-tampering"},
		{"Bash", ToolInput{}, ""},
	} {
		if got := kind(Guard(Input{Tool: c.tool, ToolInput: c.in}, alices)); got != c.want {
			t.Errorf("%s %v is refused as %q, want %q", c.tool, c.in, got, c.want)
		}
	}
}

// TestUnreadable: what cannot be read is refused; nothing makes the guard crash, or take long.
func TestUnreadable(t *testing.T) {
	nested := func(open, inner, shut string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	for name, c := range map[string]string{
		"quote":  `echo "x`,
		"paren":  `echo (`,
		"if":     `if true; then`,
		"long":   "echo " + strings.Repeat("x", shell.MostText),
		"braces": nested("{ ", "true; ", "}; ", 2000),
		"substs": strings.Repeat("$(", 200) + "true" + strings.Repeat(")", 200),
	} {
		if got := Guard(bash(c), alices); kind(got) != "unreadable" {
			t.Errorf("%s is judged as %q", name, got)
		}
	}
	for _, c := range []string{
		`echo {1..1000000000}`,
		`a(){ b;b;b;b;b;b;b;b;b;b; }; b(){ c;c;c;c;c;c;c;c;c;c; }; c(){ d;d;d;d;d;d;d;d;d;d; }; d(){ e;e;e;e;e;e;e;e;e;e; }; a`,
		`for a in {1..999}; do for b in {1..999}; do for c in {1..999}; do true; done; done; done`,
		`a=aaaaaaaaaaaaaaaa; ` + strings.Repeat(`a=$a$a; `, 500) + `for i in {1..9999}; do echo $a$a$a$a$a$a$a; done`,
	} {
		if got := Guard(bash(c), alices); got != "" {
			t.Error(got)
		}
	}
}

// FuzzGuard: no command makes it crash.
func FuzzGuard(f *testing.F) {
	for _, e := range examples {
		for _, c := range append(e.refused, e.allowed...) {
			f.Add(c)
		}
	}
	for _, command := range hidden {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		if got := Guard(bash(command), alices); strings.ContainsAny(got, shell.Marks) {
			t.Errorf("a mark is shown: %q", got)
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	w := alices
	for _, c := range []struct{ name, command string }{
		{"short", `go test ./... 2>&1 | tail -20`},
		{"long", strings.Repeat("cd /src/app/build && make -j4 CFLAGS=\"-O2 $EXTRA\" | tee log && rm -rf build/tmp\n", 100)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if got := Guard(bash(c.command), w); got != "" {
					b.Fatal(got)
				}
			}
		})
	}
}

// TestDocumented: the documentation names every kind of danger, in this order.
func TestDocumented(t *testing.T) {
	text, at := string(file(t, "../../docs/supervise.md")), 0
	for _, d := range dangers {
		i := strings.Index(text[at:], "\n| "+d.name+" | ")
		if i < 0 {
			t.Fatalf("docs/supervise.md does not name %s, or not in its place", d.name)
		}
		at += i + 1
	}
}
