package model

import "fmt"

// Scenario is a script by its name; every protocol plays it. Files are written relative to where the agent works.
//
//	ok            writes hello.txt with its own tool, then claims to be done
//	text          claims to be done at once
//	long-command  runs a shell command that notes its beginning in begun.txt and takes ten minutes
//	length        answers how long the prompt was
//	empty         answers nothing
//	hang, cut, refuse, limit, limit-reset, overloaded, server-error, auth, billing, too-long: see Ending and Failure
//
// It panics at an unknown name.
func Scenario(name string) []Turn {
	done := Turn{Text: "Written.\n<response>DONE</response>"}
	switch name {
	case "ok":
		return []Turn{{Text: "I will write hello.txt.", Tools: []Tool{Write("hello.txt", "hello\n")}}, done}
	case "text":
		return []Turn{done}
	case "long-command":
		return []Turn{{Text: "This takes a while.",
			Tools: []Tool{Bash("echo begun > begun.txt; sleep 600; echo ended > ended.txt")}}, done}
	case "length":
		return []Turn{{Measure: true}}
	case "empty":
		return []Turn{{}}
	case "hang", "cut":
		return []Turn{{Text: "I begin with", End: Ending(name)}}
	case "refuse":
		return []Turn{{Text: "I can't help with that.", End: Refuse}}
	case "limit", "limit-reset", "overloaded", "server-error", "auth", "billing", "too-long":
		return []Turn{{Fail: Failure(name)}}
	}
	panic(fmt.Sprintf("model: there is no scenario %q", name))
}
