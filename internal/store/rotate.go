package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// RotateKey seals everything with the newest key of a text, as ParseKeys takes it, or, where that is empty, with a new
// one, which the file of keys has alone in the end. It returns what the older keys are needed for yet.
func RotateKey(ctx context.Context, o Options, text string) (told string, err error) {
	file, alone := filepath.Join(o.Dir, keyFile), ""
	if strings.TrimSpace(text) == "" {
		if text, err = readKeyFile(file); err != nil {
			return "", fmt.Errorf("reading the keys of the database, without RALPH_DATA_KEY: %w", err)
		}
		before, err := ParseKeys(text)
		if err != nil {
			return "", err
		}
		alone = newKey(before.newest + 1)
		text += alone
		if err := replaceKeyFile(file, text); err != nil {
			return "", fmt.Errorf("adding a key to %s: %w", file, err)
		}
	}
	if o.Keys, err = ParseKeys(text); err != nil {
		return "", err
	}
	if len(o.Keys.of) < 2 {
		return "", invalid.Errorf("RALPH_DATA_KEY holds one key: add the new one to it, with a higher number, such as " +
			"\"1:OLD 2:NEW\"")
	}
	s, err := Open(ctx, o)
	if err != nil {
		return "", err
	}
	if err = errors.Join(s.reseal(ctx), s.Close()); err == nil && alone != "" {
		err = replaceKeyFile(file, alone)
	}
	if err != nil {
		return "", fmt.Errorf("sealing everything again: %w", err)
	}
	told = fmt.Sprintf("Everything is sealed with key %d now. ", o.Keys.newest)
	if alone != "" {
		return told + file + " holds it alone; keep the older one for backups that were made before.", nil
	}
	return told + "The others can go from RALPH_DATA_KEY; keep them for backups that were made before.", nil
}

// reseal seals everything with the newest key, all or nothing.
func (s *Store) reseal(ctx context.Context) error {
	return s.write(ctx, "sealing secrets again", func(t *transaction) error {
		all, err := rowsOf[secret](t.ctx, t.tx, "SELECT * FROM ralph_secrets")
		for _, v := range all {
			if v.Value, err = s.keys.open(v.Name, v.Value); err != nil {
				return err
			}
			if err = s.seal(t, v); err != nil {
				return err
			}
		}
		return err
	})
}

// replaceKeyFile puts another file of keys into the place of one, all or nothing.
func replaceKeyFile(file, text string) error {
	fresh := file + ".new"
	err := os.Remove(fresh)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = writeKeyFile(fresh, text)
	}
	if err == nil {
		err = os.Rename(fresh, file)
	}
	return err
}
