package engine

import (
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
)

// cannotRun is how a shell ends that was asked for a program which it may not run.
const cannotRun = 126

// lacksTool says which program a check that failed says was missing.
func (spec *Spec) lacksTool(line string, exit int, output string) (check.Lack, bool) {
	advice := detect.LackAdvice("", output, spec.site(""))
	if tool, _ := detect.Unchosen(output); tool != "" {
		return check.Lack{Tool: tool, Advice: advice, Chosen: true}, true
	}
	if exit != cannotRun && exit != notFound && !detect.Lacking(output) {
		return check.Lack{}, false
	}
	tool := detect.MissingTool("", output) // the output has to name it: a script that is missing is none
	return check.Lack{Tool: tool, Advice: advice}, tool != ""
}

// site is where the run's tools are missing. install is what installs the project's own dependencies; "" nothing does,
// or it has run.
func (spec *Spec) site(install string) detect.Site {
	return detect.Site{Here: !spec.InJob, NoSetup: spec.OfPrompt, Setup: install}
}

// line is a check's command.
func (run *Run) line(name string) string {
	for _, g := range run.Settings.Guardrails {
		if g.Name == name {
			return g.Command
		}
	}
	return ""
}
