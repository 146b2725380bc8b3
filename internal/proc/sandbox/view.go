package sandbox

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// visiblePaths is what a box shows of this machine: everything, to read, but what is hidden; and of that again what is shown.
type visiblePaths struct {
	hidden []string // directories that are empty there
	blank  []string // files that are
	shown  []string // what is seen though it is in what is hidden
	closed []string // the parts that never are
	others []string // of the hidden ones those of other people
	links  [][2]string
	as     *proc.User // who looks; nil: we
}

// places where homes, keys, sockets and other people's files are. Those that do not exist are left out.
var places = []string{"/home", "/root", "/tmp", "/var/tmp", "/run", "/mnt", "/media"}

// system are the directories that hold the system and its programs. What else is at the root or in /var, someone has
// put there for other work.
var system = []string{
	"/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc", "/sbin", "/snap", "/sys", "/usr",
	"/var", "/var/cache", "/var/db", "/var/lib",
}

// otherPlaces are the directories that are neither of the system nor a place of programs: one whose own programs PATH
// names.
func otherPlaces(o Options) (found []string) {
	path := filepath.SplitList(proc.Value(o.Parent, "PATH"))
	for _, top := range []string{"/", "/var"} {
		entries, _ := os.ReadDir(top)
		for _, e := range entries {
			at := filepath.Join(top, e.Name())
			if e.IsDir() && !slices.Contains(system, at) && !slices.Contains(places, at) &&
				!slices.ContainsFunc(path, func(dir string) bool { return dir == at || filepath.Dir(dir) == at }) {
				found = append(found, at)
			}
		}
	}
	return found
}

// toolchains are directories in a home that hold programs, and nothing that is secret.
var toolchains = []string{
	"go/bin", ".nvm", ".rustup", ".cargo/bin", ".cargo/env", ".pyenv", ".rbenv", ".nodenv", ".goenv", ".jenv", ".tfenv",
	".asdf", ".volta", ".fnm", ".bun",
	".deno/bin", ".sdkman", ".dotnet", ".juliaup", ".ghcup", ".opam", ".local/bin", ".local/lib", ".local/share/claude",
	".local/share/mise",
	".local/share/fnm", ".local/share/pnpm", ".local/share/pipx", ".local/share/uv", ".local/share/nvm", ".nix-profile",
	".npm-global", ".yarn/bin",
	"bin", "miniconda3", "anaconda3", "sdk",
}

// pointers are variables of the environment that say where a tool or a certificate is.
var pointers = []string{
	"GOROOT", "RUSTUP_HOME", "NVM_DIR", "NODE_PATH", "PNPM_HOME", "BUN_INSTALL", "JAVA_HOME", "MAVEN_HOME", "M2_HOME",
	"GRADLE_HOME",
	"ANDROID_HOME", "ANDROID_SDK_ROOT", "DOTNET_ROOT", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "RBENV_ROOT",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
	"RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY",
	"NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "CODEX_CA_CERTIFICATE",
}

// look looks at the machine.
func look(o Options) visiblePaths {
	v := visiblePaths{as: o.As, others: otherPlaces(o)}
	runner, files := ofRunner(o.Parent)
	for _, place := range slices.Concat(places, v.others, []string{o.Home}, o.own(), runner, o.Hide) {
		at, err := real(place)
		if err != nil || at == "/" || !isDir(at) || over(o.Dir, at) {
			continue
		}
		v.hidden = append(v.hidden, at)
	}
	v.hidden = outermost(v.hidden)
	for _, file := range files {
		if at, err := real(file); err == nil && !v.hides(at) && !isDir(at) {
			v.blank = append(v.blank, at)
		}
	}
	if asRoot(o.As) {
		v.secrets()
	}
	v.sockets(o.Dir)
	for _, path := range o.Readable {
		v.show(o.Home, path)
	}
	for _, path := range o.Hide {
		if at, err := real(path); err == nil {
			v.closed = append(v.closed, at)
		}
	}
	for _, name := range toolchains {
		v.show(o.Home, filepath.Join(o.Home, name))
	}
	for _, name := range pointers {
		v.show(o.Home, proc.Value(o.Parent, name))
	}
	for _, dir := range filepath.SplitList(proc.Value(o.Parent, "PATH")) {
		v.showPrograms(o.Home, dir)
	}
	if cache := moduleCache(o); cache != "" {
		v.show(o.Home, cache)
	}
	return v
}

// clone is a view that can be changed alone.
func (v visiblePaths) clone() visiblePaths {
	v.shown, v.links = slices.Clone(v.shown), slices.Clone(v.links)
	return v
}

// hides reports whether a path is one that a box does not show by itself.
func (v *visiblePaths) hides(path string) bool {
	return slices.ContainsFunc(v.hidden, func(dir string) bool { return over(dir, path) }) ||
		slices.Contains(v.blank, path)
}

// show lets a path be seen, unless a home or more than one would be seen with it.
func (v *visiblePaths) show(home, path string) {
	at, err := real(path)
	in := func(dir string) bool { return over(dir, at) }
	if path == "" || err != nil || slices.ContainsFunc(v.closed, in) || !v.reach(at) || over(at, home) || !v.hides(at) || slices.Contains(v.hidden, at) {
		return
	}
	if clean := filepath.Clean(path); clean != at && v.hides(clean) &&
		!slices.ContainsFunc(v.links, func(l [2]string) bool { return l[1] == clean }) {
		if target, err := os.Readlink(clean); err == nil { // a link itself; one further up is not followed
			v.links = append(v.links, [2]string{target, clean})
		}
	}
	if !slices.ContainsFunc(v.shown, func(dir string) bool { return over(dir, at) }) {
		v.shown = append(v.shown, at)
	}
}

// reach reports whether the box's user can pass through the directories that lead to a path.
func (v *visiblePaths) reach(path string) bool {
	if v.as == nil || v.as.UID == 0 {
		return true
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if !passable(dir, v.as) {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}

// showPrograms lets a directory of PATH be seen, with what its programs are links to.
func (v *visiblePaths) showPrograms(home, dir string) {
	if !filepath.IsAbs(dir) || !v.hides(dir) {
		return
	}
	if filepath.Base(dir) == "bin" &&
		!slices.Contains([]string{".local", ".cargo", "go"}, filepath.Base(filepath.Dir(dir))) {
		v.show(home, filepath.Dir(dir)) // libraries lie beside it
	}
	v.show(home, dir)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries[:min(len(entries), 2000)] {
		if e.Type()&os.ModeSymlink != 0 {
			v.showProgram(home, filepath.Join(dir, e.Name()))
		}
	}
}

// showProgram lets a program be seen, with the packages that it belongs to.
func (v *visiblePaths) showProgram(home, path string) {
	at, err := real(path)
	if err != nil {
		return
	}
	v.show(home, path)
	if before, _, ok := strings.Cut(at, "/node_modules/"); ok {
		v.show(home, before+"/node_modules")
		return
	}
	if rel, ok := strings.CutPrefix(at, home+"/.local/share/"); ok {
		first, _, _ := strings.Cut(rel, "/")
		v.show(home, filepath.Join(home, ".local/share", first))
	}
}

// secrets hides what no one but root may read: root keeps its own files even where it has lost every other right.
func (v *visiblePaths) secrets() {
	for _, top := range []string{"/etc", "/var", "/opt"} {
		v.closeBelow(top, 3)
	}
	entries, _ := os.ReadDir("/")
	for _, e := range entries {
		if path := "/" + e.Name(); e.Type().IsRegular() {
			v.closedOne(path, e)
		}
	}
}

func (v *visiblePaths) closeBelow(dir string, deep int) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if v.hides(path) {
			continue
		}
		if !v.closedOne(path, e) && e.IsDir() && deep > 1 {
			v.closeBelow(path, deep-1)
		}
	}
}

func (v *visiblePaths) closedOne(path string, e os.DirEntry) bool {
	info, err := e.Info()
	if err != nil {
		return false
	}
	switch {
	case e.IsDir() && info.Mode().Perm()&0o005 == 0:
		v.hidden = append(v.hidden, path)
		return true
	case e.Type().IsRegular() && info.Mode().Perm()&0o004 == 0:
		v.blank = append(v.blank, path)
		return true
	}
	return false
}

// sockets hides those that someone listens at now: a read-only file system keeps no one from speaking to one.
func (v *visiblePaths) sockets(worktree string) {
	list, err := os.Open("/proc/net/unix")
	if err != nil {
		return
	}
	defer list.Close()
	for lines := bufio.NewScanner(list); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 || !filepath.IsAbs(fields[7]) {
			continue
		}
		path, err := real(fields[7])
		if err != nil || v.hides(path) || over(worktree, path) || !v.reach(path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			v.blank = append(v.blank, path)
		}
	}
}

// outermost leaves out what is in another.
func outermost(paths []string) (out []string) {
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if !slices.ContainsFunc(out, func(dir string) bool { return over(dir, path) }) {
			out = append(out, path)
		}
	}
	return out
}

// asRoot reports whether what runs is root.
func asRoot(as *proc.User) bool {
	if as != nil {
		return as.UID == 0
	}
	return os.Geteuid() == 0
}
