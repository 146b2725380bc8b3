package hook

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/shell"
)

// fileEffect is a file that a command or a tool writes, changes or deletes.
type fileEffect struct {
	path  string // absolute, unless it is not known where it begins
	gone  bool   // deleted or moved away
	world *Environment
}

// touched are the files that a call writes, changes or deletes, as far as its arguments name them.
func (c call) touched() []fileEffect {
	var all []fileEffect
	add := func(gone bool, names ...string) {
		for _, name := range names {
			if name != "" {
				all = append(all, fileEffect{c.Path(name), gone, c.world})
			}
		}
	}
	add(false, c.Writes...)
	ops := c.Operands()
	switch c.Name {
	case "tee", "touch", "truncate", "mkfifo", "sponge", "patch", "ed", "ex", "vi", "vim", "nano", "emacs":
		add(false, ops...)
	case "rm", "unlink", "rmdir", "shred", "rimraf", "trash":
		add(true, ops...)
	case "cp", "install", "ln", "mv", "rsync", "scp":
		c.copied(ops, add)
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		if slices.ContainsFunc(c.Args, takesAway) { // chmod -x FILE
			add(false, ops...)
		} else if len(ops) > 0 {
			add(false, ops[1:]...)
		}
	case "dd":
		for _, arg := range c.Args {
			to, _ := strings.CutPrefix(arg, "of=")
			if to != arg {
				add(false, to)
			}
		}
	case "sed", "gsed", "perl", "ruby", "yq", "awk", "gawk":
		if c.Short("i") || slices.Contains(ops, "inplace") || len(c.Values("--in-place", "--inplace")) > 0 {
			add(false, ops...)
		}
	case "curl", "wget", "sort", "openssl", "gcc", "xxd":
		add(false, c.Values("-o", "-O", "--output", "--output-document")...)
	case "tar", "unzip":
		add(false, c.Values("-C", "--directory", "-d")...)
	case "git":
		if _, sub, rest := c.Git(); sub == "rm" || sub == "mv" {
			add(true, shell.Call{Args: rest}.Operands()...)
		}
	case "find":
		if slices.Contains(c.Args, "-delete") {
			add(true, c.Starts()...)
		}
	}
	return all
}

// takesAway reports whether an argument of chmod is a mode that looks like an option.
func takesAway(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "rwxXst") == ""
}

// copied are what cp, mv and their like write: the last operand, and in it the names of the others.
func (c call) copied(ops []string, add func(bool, ...string)) {
	to := c.Values("-t", "--target-directory")
	if len(to) == 0 && len(ops) > 1 {
		to, ops = ops[len(ops)-1:], ops[:len(ops)-1]
	}
	if c.Name == "mv" {
		add(true, ops...)
	}
	for _, dir := range to {
		add(false, dir)
		for _, from := range ops {
			add(false, path.Join(dir, path.Base(from)))
		}
	}
}

// project and home are the path in the project and in the user's home; "" when it is elsewhere. The project may lie in
// the home.
func (t fileEffect) project() string { return below(t.world.Root, t.path) }

func (t fileEffect) home() string { return below(t.world.Home, t.path) }

// below is a path relative to a directory; "" when it is neither that nor below it.
func below(dir, name string) string {
	switch {
	case name == dir:
		return "."
	case inside(dir, name):
		return strings.TrimPrefix(name, strings.TrimSuffix(dir, "/")+"/")
	}
	return ""
}

// inside reports whether an absolute path is below a directory.
func inside(dir, name string) bool {
	return dir != "" && name != dir && strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// under reports whether a path is one of several, or below one of those.
func under(name string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return name == dir || inside(dir, name) })
}

// patternBase is what a pattern can match at least: the directory before the first * or ?; all says that it is
// everything in there.
func patternBase(name string) (dir string, all bool) {
	steps := strings.Split(name, "/")
	for i, step := range steps {
		if !strings.ContainsAny(step, "*?[") {
			continue
		}
		dir := strings.Join(steps[:i], "/")
		if dir == "" && strings.HasPrefix(name, "/") {
			dir = "/"
		}
		return dir, strings.Trim(step, "*?.[]!^{},") == ""
	}
	return name, true
}

// outside says what is wrong with deleting or changing everything below a path; "" when it is the project's or
// temporary.
func (c call) outside(name string) string {
	if name == "" {
		return ""
	}
	if rest := strings.TrimLeft(name, shell.Marks); rest != name { // "$DIR/": without a value the root
		first := strings.TrimSuffix(strings.TrimPrefix(rest, "/"), "/")
		if rest != "" && rest[0] == '/' && strings.Trim(first, "*.?") == "" {
			return "the root, when the variable is empty"
		}
		return ""
	}
	dir, all := patternBase(name)
	if dir == "" {
		dir = "."
	}
	at := c.Path(dir)
	switch {
	case !strings.HasPrefix(at, "/"):
		return ""
	case at == c.world.Root && all:
		return "the whole project"
	case under(at, c.world.Root), inside("/tmp", at), inside("/var/tmp", at), inside("/private/tmp", at),
		inside("/dev/shm", at):
		return ""
	}
	return at
}

// secretFiles are below the home.
var secretFiles = []string{".aws", ".azure", ".config/gcloud", ".config/gh", ".kube", ".gnupg", ".netrc", ".npmrc",
	".pypirc",
	".git-credentials", ".config/git/credentials", ".docker/config.json", ".claude/.credentials.json", ".claude.json",
	".codex/auth.json",
	".gemini/oauth_creds.json", ".gemini/.env", ".local/share/opencode/auth.json", ".cargo/credentials",
	".cargo/credentials.toml",
	".terraform.d", ".vault-token", ".pgpass", ".my.cnf", ".password-store", ".bash_history", ".zsh_history"}

var (
	secretPath = lazy(
		`^(/etc/(g?shadow-?|sudoers(\.d/.*)?|ssh/ssh_host_.*_key)|/proc/([^/]+|self)/(environ|mem)|(/var)?/run/secrets/.*)$`)
	keyName = lazy(`^(id_(rsa|dsa|ecdsa|ed25519)(_sk)?|.*\.(pem|p12|pfx|kdbx))$`)
	dotEnv  = lazy(`^\.env(\.(local|production|prod|development|dev|staging|secret|secrets))?$`)
)

// credentialFile says which secret an absolute path, which may be a pattern, leads to; "" when to none.
func credentialFile(name string, w *Environment) string {
	rel, base := below(w.Home, name), path.Base(name)
	hidden, err := path.Match(base, ".env")
	switch {
	case under(rel, ".ssh") && !strings.HasSuffix(rel, ".pub") && !strings.Contains(rel, "known_hosts"),
		under(rel, secretFiles...),
		hidden && err == nil && strings.HasPrefix(base, ".e"),
		secretPath.MatchString(name), dotEnv.MatchString(base),
		keyName.MatchString(base) && !inside(w.Root, name):
		return name
	}
	return ""
}

var harmlessDevice = lazy(
	`^/dev/(null|zero|full|stdin|stdout|stderr|tty|random|urandom|ptmx|fd(/.*)?|shm/.*|pts/.*|tcp/.*|udp/.*)$`)

func deviceFile(t fileEffect) string {
	if strings.HasPrefix(t.path, "/dev/") && !harmlessDevice.MatchString(t.path) && !t.gone {
		return t.path + " is a device"
	}
	return ""
}

func gitFile(t fileEffect) string {
	if rel := t.project(); under(rel, ".git/hooks", ".git/info/attributes", ".git/config", ".git/config.worktree",
		".git/info/exclude",
		".git/HEAD", ".git/refs", ".git/objects", ".git/packed-refs", ".git/modules") {
		return "it changes " + rel
	}
	return ""
}

func systemFile(t fileEffect) string {
	if t.project() == "" && !inside("/usr/local/share/ralph", t.path) &&
		under(t.path, "/etc", "/boot", "/sys", "/proc/sys",
			"/proc/sysrq-trigger", "/bin", "/sbin", "/usr", "/lib", "/lib64", "/System", "/Library", "/var/spool/cron",
			"/var/lib", "/run/systemd") {
		return t.path + " belongs to the system"
	}
	return ""
}

// startupFile looks for files below the home that are run, or believed, at every login.
func startupFile(t fileEffect) string {
	rel := t.home()
	if under(rel, ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc",
		".zshenv", ".zprofile",
		".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".xinitrc", ".xprofile", ".xsession", ".inputrc", ".gitconfig",
		".config/git",
		".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d", "Library/LaunchAgents", ".ssh",
		".pam_environment",
		".vimrc", ".config/nvim", ".npmrc", ".pydistutils.cfg", ".pythonrc", ".local/share/applications") {
		return "it changes ~/" + rel
	}
	return ""
}

// agentFiles are the settings of agents, which say among other things which hooks they call. They are the same below
// the project and the home.
var agentFiles = []string{".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".codex/hooks.json",
	".codex/config.toml", ".codex/hooks", ".gemini/settings.json", ".gemini/hooks"}

// harnessFile looks for files that control a run. Those of a plan are the agent's to write before it is run; while it
// is run only tasks.json and progress.txt are, and no one deletes them.
func harnessFile(t fileEffect) string {
	if strings.HasPrefix(t.path, "/tmp/"+alertsName) || strings.HasPrefix(t.path, "/tmp/"+blocksName) {
		return "it changes what hooks remember"
	}
	own := append(slices.Clone(agentFiles), ".ralph", ActiveFile, ".ralph.lock", ".ralph_state.md")
	if t.world.Run {
		own = append(own, path.Join(t.world.RalphDir, "prd.md"), path.Join(t.world.RalphDir, "prompt.md"))
		if t.gone {
			own = append(own, path.Join(t.world.RalphDir, "tasks.json"), path.Join(t.world.RalphDir, "progress.txt"))
		}
	}
	if what := protected(t.project(), t.gone, own); what != "" {
		return what
	}
	return protected(t.home(), t.gone, agentFiles)
}

// protected says which of some files a path is, or is in; of what is gone also whether they lay in it.
func protected(rel string, gone bool, files []string) string {
	if rel == "" {
		return ""
	}
	dir, _ := patternBase(rel)
	for _, name := range files {
		if under(rel, name) || gone && dir != "." && dir != "" && under(name, dir) {
			return "it changes " + rel
		}
		if ok, err := path.Match(rel, name); ok && err == nil {
			return "it changes " + name
		}
	}
	return ""
}
