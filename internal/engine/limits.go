package engine

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/ralph-loop/ralph/internal/proc"
)

// limits are what one turn, one check or the setup may take of the machine.
func (spec *Spec) limits() proc.Limits {
	set := spec.Settings.Limits
	dirs := []string{spec.Scratch, os.TempDir(), "/dev/shm"}
	if cache := CacheDir(runtime.GOOS, spec.Parent); cache != "" {
		dirs = append(dirs, filepath.Join(cache, "ralph"))
	}
	return proc.Limits{
		Processes: set.MostProcesses(runtime.NumCPU()), Memory: set.MostMemory(proc.Memory()), Disk: set.Disk.Bytes(),
		Output: set.Output.Bytes(), Dirs: dirs,
	}
}
