package sandbox

import (
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/proc"
)

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

// own are the directories that everything of ours lies in: homes and trees of others are there, and the sockets of
// their boxes.
func (o *Options) own() (dirs []string) {
	for _, dir := range []string{o.Scratch, proc.Value(o.Parent, "TMPDIR"), proc.Value(o.Parent, "HOME")} {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
