package report

import (
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// RunCommand is the command that began the run.
func (v View) RunCommand() string {
	if v.State.Plan != nil {
		return "ralph plan run"
	}
	return "ralph run"
}

// Resuming is the command line that goes on with the run of another one, quoted for a shell; "" for none.
func Resuming(args []string) string {
	if len(args) == 0 {
		return ""
	}
	line := "ralph"
	for _, a := range args {
		switch {
		case a == "--fresh" || a == "--resume":
		case wording.SafeWord.MatchString(a): // also a flag
			line += " " + a
		default:
			line += " " + wording.ShellWord(a)
		}
	}
	return line + " --resume"
}

// mostAgain is how long a command may be to be shown in a sentence.
const mostAgain = 200

// again is the command that goes on with a run of the CLI.
func (v View) again() string {
	if again := safetext.OneLine(v.Clean(v.Again)); again != "" && len([]rune(again)) <= mostAgain {
		return v.shown(again)
	}
	return v.shown(v.RunCommand() + " … --resume")
}
