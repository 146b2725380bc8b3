package engine

import (
	"os"
	"path"

	"github.com/ralph-loop/ralph/internal/files"
)

// copier copies paths from one directory to another: files, directories and links, which stay links. No link leads it
// out of either.
type copier struct {
	from, to string
	// rewrite leads what a text says of the one directory to the other, as scripts of a virtual environment do; nil:
	// nothing has to be led.
	rewrite func(text string) string
}

// copy copies a path, with slashes.
func (c copier) copy(name string) error {
	from, err := os.OpenRoot(c.from)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(c.to)
	if err != nil {
		return err
	}
	defer to.Close()
	above := path.Dir(name)
	if err := to.MkdirAll(above, 0o755); err != nil {
		return err
	}
	src, err := from.OpenRoot(above)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := to.OpenRoot(above)
	if err != nil {
		return err
	}
	defer dst.Close()
	return files.Copy(src, path.Base(name), dst, path.Base(name), files.Copying{Rewrite: c.rewrite})
}
