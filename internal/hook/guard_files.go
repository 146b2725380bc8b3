package hook

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/shell"
)

// Environment is where a command would run.
type Environment struct {
	Root     string // the project's top directory, absolute
	Cwd      string // absolute
	Home     string // absolute; "" is not known
	RalphDir string // where a plan is, relative to Root; "" is "ralph"
	Run      bool   // ralph is running here: it commits and pushes itself
}

// call is one of a command, and where it would run.
type call struct {
	shell.Call

	world *Environment
}

// fileEffect is a file that a command or a tool writes, changes or deletes.
type fileEffect struct {
	path  string // absolute, unless its beginning is unknown
	gone  bool   // deleted or moved away
	world *Environment
}

// shown is the path for people.
func (t fileEffect) shown() string { return cmp.Or(below(t.world.Root, t.path), t.path) }

// touched are the files that a call writes, changes or deletes, as far as its arguments name them.
func (c call) touched() []fileEffect {
	ops, gone := c.Operands(), false
	last := min(1, len(ops))
	switch c.Name {
	case "tee", "touch", "truncate", "patch", "ed", "ex", "vi", "vim", "nano", "emacs", "chmod", "chown":
	case "rm", "unlink", "rmdir", "shred", "rimraf", "mv":
		gone = true
	case "cp", "install", "ln", "rsync", "scp":
		ops = ops[len(ops)-last:]
	case "git":
		sub, rest := c.sub()
		gone = sub == "rm" || sub == "mv"
		if ops = (shell.Call{Args: rest}).Operands(); !gone {
			ops = nil
		}
	case "dd":
		ops = slices.DeleteFunc(slices.Clone(ops), func(arg string) bool { return !strings.HasPrefix(arg, "of=") })
	case "sed", "perl":
		if !c.Short("i") {
			ops = nil
		}
	default:
		ops = nil
	}
	var all []fileEffect
	for _, name := range c.Writes {
		all = append(all, fileEffect{c.Path(name), false, c.world})
	}
	for i, name := range ops {
		arrives := c.Name == "mv" && i == len(ops)-1
		all = append(all, fileEffect{c.Path(strings.TrimPrefix(name, "of=")), gone && !arrives, c.world})
	}
	return all
}

// sub is the subcommand of a call, and the other arguments.
func (c call) sub() (sub string, rest []string) {
	for i := 0; i < len(c.Args); i++ {
		switch arg := c.Args[i]; {
		case c.Name == "git" && slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree"}, arg):
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg, slices.Concat(c.Args[:i], c.Args[i+1:])
		}
	}
	return "", nil
}

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

// patternBase is the directory before the first * or ? of a path; all reports that the pattern covers everything in it.
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

// outside names what deleting or changing everything below a path harms; "" if that is the project's or temporary.
func (c call) outside(name string) string {
	if rest := strings.TrimLeft(name, shell.Marks); rest != name { // "$DIR/": without a value the root
		if strings.HasPrefix(rest, "/") && strings.Trim(rest, "/*.?") == "" {
			return "the root, when the variable is empty"
		}
		return ""
	}
	dir, all := patternBase(name)
	at := c.Path(path.Clean(dir))
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

var (
	// homeSecrets are below the home.
	homeSecrets = strings.Fields(`.aws .azure .config/gcloud .config/gh .kube .gnupg .netrc .npmrc .pypirc .git-credentials
		.config/git/credentials .docker/config.json .claude/.credentials.json .claude.json .codex/auth.json
		.gemini/oauth_creds.json .gemini/.env .local/share/opencode/auth.json .cargo/credentials.toml .vault-token .pgpass
		.my.cnf .password-store .bash_history .zsh_history`)
	secretPath = lazy(
		`^(/etc/(g?shadow-?|sudoers(\.d/.*)?|ssh/ssh_host_.*_key)|/proc/([^/]+|self)/(environ|mem)|(/var)?/run/secrets/.*)$`)
	keyName = lazy(`^(id_(rsa|dsa|ecdsa|ed25519)(_sk)?|.*\.(pem|p12|pfx|kdbx))$`)
	dotEnv  = lazy(`^\.env(\.(local|production|prod|development|dev|staging|secret|secrets))?$`)
)

// secretFile reports whether an absolute path, which can be a pattern, leads to a secret.
func secretFile(name string, w *Environment) bool {
	rel, base := below(w.Home, name), path.Base(name)
	return under(rel, ".ssh") && !strings.HasSuffix(rel, ".pub") && !strings.Contains(rel, "known_hosts") ||
		under(rel, homeSecrets...) || secretPath.MatchString(name) || dotEnv.MatchString(base) ||
		keyName.MatchString(base) && !inside(w.Root, name)
}

var harmlessDevice = lazy(
	`^/dev/(null|zero|full|stdin|stdout|stderr|tty|random|urandom|ptmx|fd(/.*)?|shm/.*|pts/.*|tcp/.*|udp/.*)$`)

func deviceFile(t fileEffect) bool {
	return strings.HasPrefix(t.path, "/dev/") && !harmlessDevice.MatchString(t.path) && !t.gone
}

func gitFile(t fileEffect) bool {
	return under(below(t.world.Root, t.path), strings.Fields(`.git/hooks .git/info .git/config .git/config.worktree .git/HEAD
		.git/refs .git/objects .git/packed-refs .git/modules`)...)
}

func systemFile(t fileEffect) bool {
	return below(t.world.Root, t.path) == "" && under(t.path, strings.Fields(`/etc /boot /sys /proc/sys /bin /sbin /usr /lib
		/lib64 /System /Library /var/spool/cron /var/lib /run/systemd`)...)
}

// startupFile reports whether a file below the home is run, or believed, at every login.
func startupFile(t fileEffect) bool {
	return under(below(t.world.Home, t.path), strings.Fields(`.bashrc .bash_profile .bash_login .bash_logout .bash_aliases
		.profile .zshrc .zshenv .zprofile .zlogin .xinitrc .xprofile .inputrc .gitconfig .config/git .config/fish
		.config/autostart .config/systemd .config/environment.d Library/LaunchAgents .ssh .vimrc .config/nvim .npmrc`)...)
}

// agentFiles are the settings of agents, which among other things name the hooks that they call. They are the same below
// the project and the home.
var agentFiles = []string{".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".codex/hooks.json",
	".codex/config.toml", ".codex/hooks", ".gemini/settings.json", ".gemini/hooks"}

// harnessFile reports whether a file controls a run. The agent writes the files of a plan before it runs; during the run
// it can change only tasks.json and progress.txt, and delete neither.
func harnessFile(t fileEffect) bool {
	own := append(slices.Clone(agentFiles), ".ralph", ActiveFile, ".ralph.lock", ".ralph_state.md")
	if t.world.Run {
		own = append(own, path.Join(t.world.RalphDir, "prd.md"), path.Join(t.world.RalphDir, "prompt.md"))
		if t.gone {
			own = append(own, path.Join(t.world.RalphDir, "tasks.json"), path.Join(t.world.RalphDir, "progress.txt"))
		}
	}
	return strings.HasPrefix(t.path, "/tmp/"+alertsName) || strings.HasPrefix(t.path, "/tmp/"+blocksName) ||
		protected(below(t.world.Root, t.path), t.gone, own) || protected(below(t.world.Home, t.path), t.gone, agentFiles)
}

// protected reports whether a path is one of some files, or in one; if it is deleted, also whether one is in it.
func protected(rel string, gone bool, files []string) bool {
	dir, _ := patternBase(rel)
	return rel != "" && slices.ContainsFunc(files, func(name string) bool {
		matched, err := path.Match(rel, name)
		return under(rel, name) || gone && dir != "." && dir != "" && under(name, dir) || matched && err == nil
	})
}
