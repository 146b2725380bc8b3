package hook

import (
	"path"
	"slices"
	"strings"
)

// gitValued are git's own options that take the next word.
var gitValued = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix"}

// git is the subcommand of git, and its arguments.
func (c command) git() (sub string, rest command) {
	if c.name != "git" {
		return "", c
	}
	for i := 0; i < len(c.args); i++ {
		switch arg := c.args[i]; {
		case slices.Contains(gitValued, arg):
			i++
		case strings.HasPrefix(arg, "-"):
		default:
			rest = c
			rest.args = c.args[i+1:]
			if slices.Contains([]string{"commit", "tag", "merge", "stash", "notes"}, arg) {
				rest.args = withoutMessage(rest.args)
			}
			return arg, rest
		}
	}
	return "", c
}

// withoutMessage leaves out what -m says: words, not options.
func withoutMessage(args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--message" || arg == "--file" || arg == "-F",
			len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.HasSuffix(arg, "m"):
			kept = append(kept, strings.TrimSuffix(arg, "m"))
			i++
		case strings.HasPrefix(arg, "--message=") || strings.HasPrefix(arg, "-m"):
		default:
			kept = append(kept, arg)
		}
	}
	return kept
}

func historyRewrite(c command) string {
	if c.name == "bfg" || c.name == "git-filter-repo" {
		return c.name + " rewrites history"
	}
	sub, rest := c.git()
	goesOn := rest.has("--abort", "--continue", "--skip", "--quit", "--show-current-patch")
	switch sub {
	case "push":
		return pushed(rest)
	case "filter-branch", "filter-repo", "fast-import":
		return "git " + sub + " rewrites history"
	case "rebase":
		if c.world.Run && !goesOn {
			return "git rebase rewrites the commits of this run"
		}
	case "commit":
		if c.world.Run && rest.has("--amend") {
			return "git commit --amend rewrites a commit of this run"
		}
	case "reflog":
		if rest.has("expire", "delete") {
			return "git reflog takes the way back away"
		}
	case "update-ref", "replace":
		if rest.short("d") || rest.has("--stdin", "--delete") || c.world.Run && sub == "update-ref" {
			return "git " + sub + " moves branches"
		}
	case "gc", "prune":
		if sub == "gc" && rest.has("--prune=now", "--prune=all") {
			return "git gc --prune takes the way back away"
		}
	}
	return ""
}

func pushed(c command) string {
	if c.has("--dry-run") || c.short("n") {
		return ""
	}
	if c.world.Run {
		return "git push: in a run, ralph pushes"
	}
	if c.short("fd") || c.has("--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "--prune") {
		return "git push overwrites or deletes what others have"
	}
	for _, ref := range c.operands("-o", "--push-option", "--repo") {
		if strings.HasPrefix(ref, "+") || strings.HasPrefix(ref, ":") && len(ref) > 1 {
			return "git push " + ref + " overwrites or deletes a branch"
		}
	}
	return ""
}

func discardWork(c command) string {
	if slices.Contains([]string{"rm", "mv", "rimraf"}, c.name) {
		for _, name := range c.operands() {
			if dir, _ := reach(name); path.Base(absolute(c.cwd, dir)) == ".git" {
				return c.name + " " + name + " takes the repository away"
			}
		}
	}
	sub, rest := c.git()
	ops := rest.operands("-b", "-B", "-c", "-C", "-s", "--source")
	switch sub {
	case "clean":
		if (rest.short("f") || rest.has("--force")) && !rest.short("n") && !rest.has("--dry-run") {
			return "git clean deletes what is not tracked"
		}
	case "reset":
		if rest.has("--hard", "--merge", "--keep") {
			return "git reset throws changes away"
		}
	case "checkout":
		switch {
		case rest.short("f") || rest.has("--force"):
			return "git checkout --force throws changes away"
		case rest.short("bB") || rest.has("--orphan"):
		case slices.Contains(rest.args, "--") && rest.args[len(rest.args)-1] != "--",
			slices.ContainsFunc(ops, func(o string) bool { return o == "." || o == "./" || o == "*" || strings.HasPrefix(o, ":/") }),
			rest.has("--ours", "--theirs") && len(ops) > 0:
			return "git checkout of files throws their changes away"
		}
	case "switch":
		if rest.short("f") || rest.has("--force", "--discard-changes") {
			return "git switch --force throws changes away"
		}
	case "restore":
		if (!rest.has("--staged") && !rest.short("S")) || rest.has("--worktree") || rest.short("W") {
			return "git restore throws changes away"
		}
	case "stash":
		if len(ops) > 0 && (ops[0] == "drop" || ops[0] == "clear") {
			return "git stash " + ops[0] + " throws changes away"
		}
	case "branch":
		if rest.short("D") || rest.has("--delete") && rest.has("--force") || rest.short("d") && rest.short("f") {
			return "git branch -D throws commits away"
		}
	case "worktree":
		if len(ops) > 0 && ops[0] == "remove" && (rest.short("f") || rest.has("--force")) {
			return "git worktree remove --force throws changes away"
		}
	case "rm":
		if (rest.short("f") || rest.has("--force")) && !rest.has("--cached") {
			return "git rm --force throws changes away"
		}
	}
	return ""
}

// gitRuns are settings of git that name programs to run, or lead elsewhere.
var gitRuns = lazy(`(?i)^(core\.(hookspath|fsmonitor|sshcommand|editor|pager|gitproxy|askpass|attributesfile|excludesfile|worktree)|sequence\.editor|credential\..*|credential|include\.path|includeif\..*|filter\..*|` +
	`diff\..*\.(command|textconv)|diff\.external|merge\..*\.driver|gpg\..*program|gpg\.program|url\..*|remote\..*\.(url|pushurl|uploadpack|receivepack|proxy)|http\..*|protocol\..*|hook\..*|init\.templatedir|uploadpack\..*|receive\..*|safe\..*|commit\.gpgsign)$`)

func gitTampering(c command) string {
	for _, pair := range c.env {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "GIT_CONFIG") || slices.Contains([]string{"GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_TEMPLATE_DIR", "GIT_EXEC_PATH", "GIT_ASKPASS"}, name) || name == "HUSKY" && value == "0" {
			return name + " changes what git runs"
		}
	}
	if c.name != "git" {
		return ""
	}
	for _, pair := range c.values("-c", "--config-env") {
		if name, _, _ := strings.Cut(pair, "="); gitRuns.MatchString(name) && slices.Index(c.args, pair) < c.subcommandAt() {
			return "git -c " + name + " changes what git runs"
		}
	}
	sub, rest := c.git()
	switch sub {
	case "commit", "push", "merge", "am", "rebase", "cherry-pick", "pull", "revert":
		if rest.has("--no-verify") || sub == "commit" && rest.short("n") {
			return "git " + sub + " --no-verify passes over the hooks"
		}
	case "config":
		return configured(rest)
	case "update-index":
		if rest.has("--assume-unchanged", "--skip-worktree") {
			return "git update-index hides changes"
		}
	}
	return ""
}

// subcommandAt is where the subcommand stands among the arguments.
func (c command) subcommandAt() int {
	sub, rest := c.git()
	if sub == "" {
		return len(c.args)
	}
	return len(c.args) - len(rest.args) - 1
}

func configured(c command) string {
	if c.has("--get", "--get-all", "--get-regexp", "--list", "get", "list") || c.short("l") {
		return ""
	}
	if c.short("e") || c.has("--edit", "edit") {
		return "git config --edit changes what git runs"
	}
	ops := c.operands("-f", "--file", "--type", "--default", "--value", "--comment")
	if len(ops) > 0 && (ops[0] == "set" || ops[0] == "unset") {
		ops = append(ops[1:], "changed")
	}
	change := len(ops) > 1 || c.has("--unset", "--unset-all", "--remove-section", "--rename-section", "--replace-all", "--add")
	if len(ops) == 0 || !change {
		return ""
	}
	if gitRuns.MatchString(ops[0]) {
		return "git config " + ops[0] + " changes what git runs"
	}
	return ""
}

// gitAliases follows aliases that are commands: git config alias.x '!rm -rf /'.
func (s *script) gitAliases(cmd command, c *scope) {
	sub, rest := cmd.git()
	var texts []string
	for _, pair := range cmd.values("-c") {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(strings.ToLower(name), "alias.") {
			texts = append(texts, value)
		}
	}
	ops := rest.operands("-f", "--file")
	switch {
	case sub == "config" && len(ops) > 1 && strings.HasPrefix(strings.ToLower(ops[len(ops)-2]), "alias."):
		texts = append(texts, ops[len(ops)-1])
	case sub == "submodule" && len(ops) > 1 && ops[0] == "foreach", sub == "bisect" && len(ops) > 1 && ops[0] == "run":
		texts = append(texts, "!"+strings.Join(ops[1:], " "))
	case sub == "rebase":
		for _, text := range rest.values("-x", "--exec") {
			texts = append(texts, "!"+text)
		}
	}
	for _, text := range texts {
		if run, ok := strings.CutPrefix(text, "!"); ok {
			s.nested(run, "", c.clone())
		} else {
			s.nested("git "+text, "", c.clone())
		}
	}
}

func gitFiles(t touch) string {
	rel := t.project()
	for _, dir := range []string{".git/hooks", ".git/info/attributes", ".git/config", ".git/config.worktree", ".git/info/exclude", ".git/HEAD", ".git/refs", ".git/objects", ".git/packed-refs", ".git/modules"} {
		if rel == dir || strings.HasPrefix(rel, dir+"/") {
			return "it changes " + rel
		}
	}
	return ""
}
