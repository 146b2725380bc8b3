package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
)

// Uses share no home. All of theirs begin as what the setup has left in its own when it ran on the base commit, before
// anybody else had run; from then on no box may write that one. So what an agent, or a test that it wrote, leaves in a
// home decides neither how a check goes nor what a reviewer is told.

// mostInherited is how much a home may hold of which others get copies, in bytes.
const mostInherited = 512 << 20

// settle makes the home of a use, once.
func (s *Sandbox) settle(u Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.settleHome(u); err != nil {
		return fmt.Errorf("making a home for the sandbox: %w", err)
	}
	if u.turn() && !s.done[u.room()+" dressed"] {
		if err := s.dress(u); err != nil {
			return fmt.Errorf("making a home for the sandbox: %w", err)
		}
		s.done[u.room()+" dressed"] = true
	}
	// what tries whether boxes work needs no cache
	if u != Reads && s.done["tried"] && !s.done[u.room()+" seeded"] {
		s.seed(s.rooms(u).cache)
		s.done[u.room()+" seeded"] = true
	}
	return nil
}

func (s *Sandbox) settleHome(u Use) error {
	if s.done[u.room()] {
		if u == Setup && s.done["sealed"] {
			return errors.New("the home of the setup is what all others begin with, so nothing runs there any more")
		}
		return nil
	}
	if u == Checks && s.lumped {
		s.done[u.room()] = true
		return s.makeRooms(u)
	}
	err := s.makeHome(u, s.beginning(u))
	if errors.Is(err, files.ErrTooMuch) { // it was not when it was looked at
		err = s.makeHome(u, rooms{})
	}
	s.done[u.room()] = err == nil
	return err
}

// beginning is what the home of a use begins as; nothing, if no setup has run.
func (s *Sandbox) beginning(u Use) rooms {
	switch {
	case u == Setup:
	case u == Checks && s.done["kept"]:
		return s.kept()
	case s.done["sealed"]:
		return s.rooms(Setup)
	}
	return rooms{}
}

// SealHome says that the setup has run on the base commit: what it has left in its home is what all other homes begin
// with, and nothing runs there any more.
func (s *Sandbox) SealHome() error {
	if !s.homes() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done[Setup.room()] || s.done["sealed"] || s.lumped {
		return nil
	}
	if size := sizeOf(s.rooms(Setup).home); size > mostInherited {
		s.o.Log("sandbox: the setup has left %d MiB in its home, which is too much to copy: the checks have that home, "+
			"with what they leave there, and agents have none of it", size>>20)
		s.lumped = true
	} else {
		s.done["sealed"] = true
	}
	if err := s.handOn(); err != nil {
		return fmt.Errorf("giving the checks the caches of the setup: %w", err)
	}
	return nil
}

// RenewHome makes the home of the checks empty, for a setup on a commit of the run's: what that leaves there is for the
// checks alone.
func (s *Sandbox) RenewHome() error {
	if !s.homes() || s.lumped {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again(rooms{})
}

// KeepHome remembers the home of the checks as it is now, which is as a setup on a commit of the run's has left it.
func (s *Sandbox) KeepHome() error {
	if !s.homes() || s.lumped {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done[Checks.room()] {
		return nil
	}
	at, kept := s.rooms(Checks), s.kept()
	s.done["kept"] = false
	err := files.RemoveAll(filepath.Dir(kept.home))
	if err == nil {
		err = s.copyHome(at, kept)
	}
	s.done["unkept"] = errors.Is(err, files.ErrTooMuch)
	if s.done["unkept"] {
		s.o.Log("sandbox: the setup has left more than %d MiB in its home, which is too much to keep a copy of: what "+
			"checks leave there stays", mostInherited>>20)
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping what the setup has left in its home: %w", err)
	}
	s.done["kept"] = true
	return nil
}

// FreshHome makes the home of the checks what the last setup has left: what checks have left there since decides
// nothing. Caches stay.
func (s *Sandbox) FreshHome() error {
	if !s.homes() || s.lumped {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done["unkept"] || !s.done[Checks.room()] { // the first of them makes it
		return nil
	}
	return s.again(s.beginning(Checks))
}

// again makes the home of the checks anew.
func (s *Sandbox) again(from rooms) error {
	err := s.makeHome(Checks, from)
	if s.done[Checks.room()] = err == nil; err != nil {
		return fmt.Errorf("making the home of the checks again: %w", err)
	}
	return nil
}

// homes reports whether there are homes of the run's own.
func (s *Sandbox) homes() bool { return s != nil && s.maker != nil && s.scratch != "" }

// read begins a turn that reads, in a home that nobody has been in before; end ends it. Turns that read at the same
// time have one home.
func (s *Sandbox) read() (end func(), err error) {
	if !s.homes() {
		return func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading == 0 {
		for _, what := range []string{"reader", "reader dressed"} {
			delete(s.done, what)
		}
		err = files.RemoveAll(filepath.Join(s.scratch, Reads.room()))
	}
	if err != nil {
		return nil, fmt.Errorf("making a home for the sandbox: %w", err)
	}
	s.reading++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reading--
	}, nil
}

// makeHome makes the rooms of a use, with a home that begins as another one. Caches stay, without what is none.
func (s *Sandbox) makeHome(u Use, from rooms) error {
	to := s.rooms(u)
	for _, dir := range []string{to.home, to.temp} {
		if err := files.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := s.makeRooms(u); err != nil {
		return err
	}
	if from.home != "" {
		if err := s.copyHome(from, to); err != nil {
			return err
		}
	}
	return s.writeIn(to.home, ".gitconfig", s.gitConfig())
}

// makeRooms makes the directories of a use where they are not there, and removes from its cache what is none.
func (s *Sandbox) makeRooms(u Use) error {
	to := s.rooms(u)
	for _, dir := range []string{to.home, to.cache, to.temp} {
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
		if err := os.Chmod(filepath.Join(s.scratch, u.room()), 0o711); err != nil {
			return err
		}
	}
	return onlyCaches(to.cache)
}

// copyHome copies a home, and what its cache has that is no cache.
func (s *Sandbox) copyHome(from, to rooms) error {
	if err := s.copyTree(from.home, to.home, s.copying(mostInherited, nil)); err != nil {
		return err
	}
	if !isDir(from.cache) {
		return nil
	}
	c := s.copying(mostInherited, isCache)
	c.Missing = true // caches lie beside it
	return s.copyTree(from.cache, to.cache, c)
}
