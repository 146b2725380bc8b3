package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/inside"
)

// Uses share no home. All of theirs start as what the setup has left in its own when it ran on the base commit, before
// anyone else had run; from then on no box may write that one. So what an agent, or a test that it wrote, leaves in a
// home decides neither how a check goes nor what a reviewer reads. Where that is too much to copy, they start empty.

// of is the home of a use.
func (h *homes) of(u Use) *home {
	name := u.dirName()
	if h.byDir[name] == nil {
		if h.byDir == nil {
			h.byDir = map[string]*home{}
		}
		h.byDir[name] = &home{}
	}
	return h.byDir[name]
}

// prepareHome makes the home of a use, once.
func (s *Sandbox) prepareHome(u Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.homes.of(u)
	err := s.beginHome(u, h)
	if err == nil && u.turn() && !h.given {
		err = s.giveAgentFiles(u)
		h.given = err == nil
	}
	if err != nil {
		return fmt.Errorf("making a home for the sandbox: %w", err)
	}
	return nil
}

// beginHome makes the home of a use where it has not been made.
func (s *Sandbox) beginHome(u Use, h *home) error {
	if h.made {
		if u == Setup && s.homes.sealed {
			return errors.New("the home of the setup is what all others begin with, so nothing else runs there")
		}
		return nil
	}
	err := s.makeHome(u, s.inherited(u))
	h.made = err == nil
	return err
}

// inherited is what the home of a use starts as; empty: as none.
func (s *Sandbox) inherited(u Use) string {
	if s == nil || u == Setup || !s.homes.sealed || s.homes.large {
		return ""
	}
	return s.dirs(Setup).home
}

// SealHome says that the setup has run on the base commit: what it has left in its home is what all other homes begin
// with, and nothing runs there after that. bare says that the home of the checks lacks that.
func (s *Sandbox) SealHome() (bare bool, err error) {
	if !s.ownHomes() {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.homes.of(Setup).made || s.homes.sealed {
		return s.homes.large, nil
	}
	s.homes.sealed = true
	size := files.SizeOf(s.dirs(Setup).home)
	if s.homes.large = size > mostInherited; s.homes.large {
		s.o.Log("sandbox: the setup has left %d MiB in its home, which is too much to copy: agents and reviewers have none "+
			"of it, and the setup runs again for the checks", size>>20)
	}
	if err := s.unshare(s.dirs(Setup).home); err != nil {
		return false, fmt.Errorf("closing the home of the setup: %w", err)
	}
	return s.homes.large, s.beginHome(Checks, s.homes.of(Checks)) // now, and not in the time of the first check
}

// RenewHome makes the home and the caches of the checks again, for a setup on a commit of the run's: only the checks
// use what that leaves there. The home is empty then.
func (s *Sandbox) RenewHome() error {
	_, err := s.resetCheckHome("")
	return err
}

// FreshHome makes the home and the caches of the checks what they were after the setup and the checks on the base
// commit: what checks have left there since decides nothing. bare says that the home lacks what the setup has left.
func (s *Sandbox) FreshHome() (bare bool, err error) {
	return s.resetCheckHome(s.inherited(Checks))
}

// resetCheckHome makes the home of the checks begin as another one, and their caches as on the base commit.
func (s *Sandbox) resetCheckHome(from string) (bare bool, err error) {
	if s == nil {
		return false, nil
	} else if m, ok := s.maker.(interface{ forget() (bool, error) }); ok { // one that keeps a machine
		return m.forget()
	} else if !s.ownHomes() {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.freshCaches()
	if h := s.homes.of(Checks); err == nil && h.made { // otherwise the first of them makes it
		err = s.makeHome(Checks, from)
		h.made = err == nil
	}
	if err != nil {
		err = fmt.Errorf("making the home of the checks again: %w", err)
	}
	return s.homes.large, err
}

// read begins a turn that reads, in a home that no one has been in before; end ends it. Turns that read at the same
// time have one home.
func (s *Sandbox) read() (end func(), err error) {
	if !s.ownHomes() {
		return func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.homes.reading == 0 {
		*s.homes.of(Reads) = home{}
		err = files.RemoveAll(filepath.Join(s.scratch, Reads.dirName()))
	}
	if err != nil {
		return nil, fmt.Errorf("making a home for the sandbox: %w", err)
	}
	s.homes.reading++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.homes.reading--
	}, nil
}

// makeHome makes the directories of a use, with a home that begins as another one; empty: as none. Caches stay.
func (s *Sandbox) makeHome(u Use, from string) error {
	to := s.dirs(u)
	for _, dir := range []string{to.home, to.temp} {
		if err := files.RemoveAll(dir); err != nil {
			return err
		}
	}
	err := s.makeOwn(filepath.Join(s.scratch, u.dirName()), "home", "tmp")
	if err == nil {
		err = s.makeCaches(u)
	}
	if err != nil {
		return err
	}
	if from != "" {
		if err := s.copyTree(from, to.home, s.copying(0)); err != nil {
			return err
		}
	}
	return s.writeIn(to.home, ".gitconfig", s.gitConfig())
}

// A runner of GitHub's keeps what an agent must not reach in separate directories: the event, the job's token that a
// checkout has left, files by which steps tell the runner what to do, what other steps have written, and logins of its
// own. In a container they lie below /github, elsewhere where the variables of the job say.

// prepareDirs makes what boxes of this machine need: homes, gates, and the look at what there is to see.
func (s *Sandbox) prepareDirs() (err error) {
	o := &s.o
	if over(o.Dir, o.Home) {
		return &UnavailableError{fmt.Sprintf("the worktree %s holds your home, and everything in it would be open", o.Dir)}
	}
	var discard func()
	if s.scratch, discard, err = proc.TempDir(o.Scratch); err != nil {
		return fmt.Errorf("making a directory for the sandbox: %w", err)
	}
	s.cleanup = append(s.cleanup, discard)
	s.base = filepath.Join(s.scratch, "base")
	err = os.WriteFile(s.nothing(), nil, 0o444)
	if err == nil && o.As != nil { // that user can pass, but not list it
		err = os.Chmod(s.scratch, 0o711)
	}
	s.view = look(*o)
	s.borrowed = borrowed(clone(o.Dir, o.Home)) // as it is now: what runs may say otherwise later
	if err == nil && !s.view.reach(o.self) {    // our own program has to be seen by whom it runs as
		at := filepath.Join(s.scratch, "ralph")
		err = within(s.scratch, func(root *os.Root) error { return copyInto(o.self, root, "ralph", files.Copying{}) })
		err = errors.Join(err, os.Chmod(at, 0o755)) // whatever is masked
		o.self = at
	}
	if err != nil {
		return fmt.Errorf("making a directory for the sandbox: %w", err)
	}
	for _, u := range []Use{Checks, Works} {
		hosts := o.Network
		if u != Checks {
			hosts = append(hosts[:len(hosts):len(hosts)], o.hosts()...)
		}
		s.gates[u] = newEgress(hosts, func(name string) string { return proc.Value(o.Parent, name) }, o.Log)
		s.cleanup = append(s.cleanup, s.gates[u].close)
	}
	return nil
}

// Box is what something is run in; nil when the sandbox is off.
func (s *Sandbox) Box(u Use) proc.Box {
	if s == nil || s.maker == nil {
		return nil
	}
	return box{s, u}
}

// Enter implements proc.Box.
func (b box) Enter(s proc.Spec) (proc.SandboxedCommand, error) {
	if b.u != Reads {
		return b.s.maker.enter(b.u, s)
	}
	end, err := b.s.read()
	if err != nil {
		return proc.SandboxedCommand{}, err
	}
	boxed, err := b.s.maker.enter(b.u, s)
	if err != nil {
		end()
		return boxed, err
	}
	leave := boxed.Leave
	boxed.Leave = func() {
		if leave != nil {
			leave()
		}
		end()
	}
	return boxed, nil
}

// giveAgentFiles gives an agent copies of what it writes all the time, of the user's own.
func (s *Sandbox) giveAgentFiles(u Use) error {
	return within(s.dirs(u).home, func(root *os.Root) error {
		for _, f := range s.files() {
			if f.Access != Copied {
				continue
			}
			if err := s.copyOwn(root, f); err != nil && !missing(err) {
				return err
			}
		}
		return nil
	})
}

// copyOwn copies a file or a directory of the user's own to its place in a home, through nothing that a setup has left
// there.
func (s *Sandbox) copyOwn(home *os.Root, f placed) error {
	from, err := real(f.Path)
	if err != nil {
		return err
	}
	if err := mkdirIn(home, filepath.Dir(f.at), s.o.As); err != nil {
		return err
	}
	dst, err := home.OpenRoot(filepath.Dir(f.at))
	if err != nil {
		return err
	}
	defer dst.Close()
	if err := files.RemoveIn(dst, filepath.Base(f.at)); err != nil {
		return err
	}
	return copyInto(from, dst, filepath.Base(f.at), s.copying(0))
}

// placed is a file of an agent, absolute, and where that is from a home.
type placed struct {
	File
	at string
}

// files are those that the agents use. What is not in the user's home is no file of another one, and seen as it is or
// not at all.
func (s *Sandbox) files() (list []placed) {
	for _, a := range s.o.Agents {
		for _, f := range a.Files {
			if !filepath.IsAbs(f.Path) {
				f.Path = filepath.Join(s.o.Home, f.Path)
			}
			at, err := filepath.Rel(s.o.Home, f.Path)
			if p := (placed{f, at}); err == nil && !strings.HasPrefix(at, "..") && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// given are the user's own files that a use has as they are. A check has none.
func (s *Sandbox) given(u Use) []placed {
	return slices.DeleteFunc(s.files(), func(f placed) bool { return !u.turn() || f.Access == Copied || !exists(f.Path) })
}

// kept is what a box takes over of the user's git configuration: who commits, and how lines end. All else may hold
// keys.
var kept = []string{"user.name", "user.email", "init.defaultbranch", "core.autocrlf", "core.eol"}

func (s *Sandbox) gitConfig() []byte {
	if s.homes.git == nil {
		s.homes.git = s.readGitConfig()
	}
	return s.homes.git
}

func (s *Sandbox) readGitConfig() []byte {
	out := proc.NewTail(64<<10, 0)
	env := proc.Environment(s.o.Parent, proc.Allowed, "HOME="+s.o.Home)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := proc.Run(ctx, proc.Spec{Argv: []string{"git", "config", "--global", "--list", "-z"}, Dir: "/", Env: env,
		Stdout: out}); err != nil {
		return nil // there is no git, and no one who misses its configuration
	}
	var b strings.Builder
	for entry := range strings.SplitSeq(out.String(), "\x00") {
		name, value, _ := strings.Cut(entry, "\n")
		section, key, _ := strings.Cut(name, ".")
		if slices.Contains(kept, name) {
			fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, key,
				strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(value))
		}
	}
	return []byte(b.String())
}

// theirs are variables that say where on this machine a user keeps something: in a box they would lead to nothing.
var theirs = []string{
	"XDG_*", "GOCACHE", "GOMODCACHE", "GOPATH", "GOBIN", "CARGO_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR", "GRADLE_USER_HOME",
	"DENO_DIR", "BUNDLE_PATH",
	"TMPDIR", "TMP", "TEMP", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
	"all_proxy", "no_proxy", "RALPH_SANDBOX",
}

// environ is the environment in a box with that home, cache and directory for temporary files. A process that has a
// directory of its own may have that in it.
func (s *Sandbox) environ(of proc.Spec, in dirs) []string {
	env := of.Env
	if temp := proc.Value(env, "TMPDIR"); of.WritableDir != "" && over(of.WritableDir, temp) {
		in.temp = temp
	}
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(theirs, func(pattern string) bool {
			prefix, star := strings.CutSuffix(pattern, "*")
			return name == pattern || star && strings.HasPrefix(name, prefix)
		})
	})
	set := []string{"HOME=" + in.home, "TMPDIR=" + in.temp, "GOPATH=" + in.cache + "/go"}
	for _, c := range toolCaches {
		if c.env != "" {
			set = append(set, c.env+"="+in.cache+"/"+c.name)
		}
	}
	// what this machine has fetched already; go.sum is held against it anyway
	if from := moduleCache(s.o); from != "" {
		set = append(set, "GOPROXY=file://"+filepath.ToSlash(from)+","+
			cmp.Or(proc.Value(env, "GOPROXY"), "https://proxy.golang.org,direct"))
	}
	return inside.With(out, set)
}
