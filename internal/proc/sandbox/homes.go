package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Uses share no home. All of theirs start as what the setup has left in its own when it ran on the base commit, before
// anyone else had run; from then on no box may write that one. So what an agent, or a test that it wrote, leaves in a
// home decides neither how a check goes nor what a reviewer is told. Where that is too much to copy, they start empty.

// homes are those of the uses, and what others may rely on of them.
type homes struct {
	byDir   map[string]*home // two uses may share one
	tried   bool             // boxes work here
	sealed  bool             // no one runs in the home of the setup any more: the others begin as copies of it
	large   bool             // or as none: that home is too much to copy
	reading int              // how many turns read now
	git     []byte           // what one has of the user's git configuration; nil: no one has looked
}

// home is what has been done to one.
type home struct {
	made  bool // it begins as it should
	given bool // an agent has the files of its own there
}

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

// mostInherited is how much a home may hold of which others get copies, in bytes.
const mostInherited = 512 << 20

// prepareHome makes the home of a use, once.
func (s *Sandbox) prepareHome(u Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.homes.of(u)
	if err := s.beginHome(u, h); err != nil {
		return fmt.Errorf("making a home for the sandbox: %w", err)
	}
	if u.turn() && !h.given {
		if err := s.giveAgentFiles(u); err != nil {
			return fmt.Errorf("making a home for the sandbox: %w", err)
		}
		h.given = true
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
// with, and nothing runs there any more. bare says that the home of the checks lacks that.
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

// RenewHome makes the home and the caches of the checks again, for a setup on a commit of the run's: what that leaves
// there is for the checks alone. The home is empty then.
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
	if h := s.homes.of(Checks); err == nil && h.made { // else the first of them makes it
		err = s.makeHome(Checks, from)
		h.made = err == nil
	}
	if err != nil {
		err = fmt.Errorf("making the home of the checks again: %w", err)
	}
	return s.homes.large, err
}

// ownHomes reports whether there are homes of the run's own.
func (s *Sandbox) ownHomes() bool { return s != nil && s.maker != nil && s.scratch != "" }

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
	if err := s.makeDirs(u); err != nil {
		return err
	}
	if from != "" {
		if err := s.copyTree(from, to.home, s.copying(0)); err != nil {
			return err
		}
	}
	return s.writeIn(to.home, ".gitconfig", s.gitConfig())
}

// makeDirs makes the directories of a use where they do not exist.
func (s *Sandbox) makeDirs(u Use) error {
	to := s.dirs(u)
	for _, dir := range []string{to.home, to.temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if s.o.As == nil {
			continue
		}
		if err := os.Lchown(dir, int(s.o.As.UID), int(s.o.As.GID)); err != nil {
			return err
		}
	}
	if s.o.As != nil { // who passes through, and does not look around
		if err := os.Chmod(filepath.Join(s.scratch, u.dirName()), 0o711); err != nil {
			return err
		}
	}
	return s.makeCaches(u)
}

// A runner of GitHub's keeps what is none of an agent's business in directories of its own: the event, the job's token
// that a checkout has left, files by which steps tell the runner what to do, what other steps have written, and logins
// of its own. In a container they lie below /github, elsewhere where the variables of the job say.

// inContainer is where a container action finds the directories of its runner.
const inContainer = "/github"

// runnerDirs are variables that name directories of the runner.
var runnerDirs = []string{"RUNNER_TEMP", "RUNNER_WORKSPACE", "GITHUB_WORKSPACE"}

// runnerFiles are variables that name files of the runner.
var runnerFiles = []string{"GITHUB_EVENT_PATH", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE",
	"GITHUB_STEP_SUMMARY"}

// ofRunner are the directories and files of the runner that our environment names.
func ofRunner(env []string) (dirs, files []string) {
	if proc.Value(env, "GITHUB_ACTIONS") != "" {
		dirs = append(dirs, inContainer)
	}
	for _, name := range runnerDirs {
		if dir := proc.Value(env, name); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, name := range runnerFiles {
		if file := proc.Value(env, name); filepath.IsAbs(file) {
			files = append(files, file)
		}
	}
	// all work of a runner lies beside its _temp, and the runner itself, with its login, around that
	temp := proc.Value(env, "RUNNER_TEMP")
	if work := filepath.Dir(temp); filepath.IsAbs(temp) && filepath.Base(temp) == "_temp" {
		dirs = append(dirs, work)
		if top := filepath.Dir(work); exists(filepath.Join(top, ".runner")) || exists(filepath.Join(top, ".credentials")) {
			dirs = append(dirs, top)
		}
	}
	return dirs, files
}

// own are the directories that everything of ours is in: homes and trees of others are there, and the sockets of
// their boxes.
func (o *Options) own() (dirs []string) {
	for _, dir := range []string{o.Scratch, proc.Value(o.Parent, "TMPDIR"), proc.Value(o.Parent, "HOME")} {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
