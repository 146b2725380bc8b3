package engine

import (
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/proc"
)

// cannotRun is how a shell ends that was asked for a program which it may not run.
const cannotRun = 126

// lacksTool says which program a check that failed says was missing.
func lacksTool(line string, exit int, output string) (check.Lack, bool) {
	advice := detect.LackAdvice("", output, "")
	if tool, _ := detect.Unchosen(output); tool != "" {
		return check.Lack{Tool: tool, Advice: advice, Chosen: true}, true
	}
	if exit != cannotRun && exit != notFound && !detect.Lacking(output) {
		return check.Lack{}, false
	}
	tool := detect.MissingTool("", output) // the output has to name it: a script that is missing is none
	return check.Lack{Tool: tool, Advice: advice}, tool != ""
}

// present are the words of a command that are programs now.
func (w *Run) present(line string) (list []string) {
	env := w.checkEnvironment()
	for _, word := range check.Words(line) {
		if _, err := proc.LookPath(word, env); err == nil {
			list = append(list, word)
		}
	}
	return list
}
