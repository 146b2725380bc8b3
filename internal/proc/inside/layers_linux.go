package inside

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// lay mounts layers, covers what they are made of, and gives up the right to mount. The places are whatever whoever was
// in this box's home has made of them: they lead nowhere but within the box.
func lay(layers []Layer) error {
	// the namespace of mounts is that of whoever made the box, in which we have no rights
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mounting caches: %w", err)
	}
	for _, l := range layers {
		for _, dir := range []string{l.At, l.Upper, l.Work} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("mounting caches: %w", err)
			}
		}
		data := "userxattr,lowerdir=" + strings.Join(l.Lower, ":") + ",upperdir=" + l.Upper + ",workdir=" + l.Work
		if err := unix.Mount("overlay", l.At, "overlay", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
			return fmt.Errorf("mounting a cache at %s: %w", l.At, err)
		}
	}
	if err := unix.Mount("none", LayersDir, "tmpfs", unix.MS_RDONLY, "size=4k"); err != nil {
		return fmt.Errorf("mounting caches: %w", err)
	}
	return powerless()
}
