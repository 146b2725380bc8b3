package model

import "fmt"

// Scenario is a script by its name; every protocol plays it. Files are written relative to where the agent works.
//
//	ok            writes hello.txt with its own tool, then claims to be done
//	text          claims to be done at once
//	long-command  runs a shell command that notes its beginning in begun.txt and takes ten minutes
//	empty         answers nothing
//	hang, cut, refuse, limit, limit-reset, overloaded, server-error, auth, billing, too-long: see Ending and Failure
//
// It panics at an unknown name.
func Scenario(name string) []Turn {
	turns, known := scenarios[name]
	if !known {
		panic(fmt.Sprintf("model: there is no scenario %q", name))
	}
	return turns
}

var done = Turn{Text: "Written.\n<response>DONE</response>"}

var scenarios = map[string][]Turn{
	"ok":   {{Text: "I will write hello.txt.", Tools: []Tool{Write("hello.txt", "hello\n")}}, done},
	"text": {done},
	"long-command": {{Text: "This takes a while.",
		Tools: []Tool{Bash("echo begun > begun.txt; sleep 600; echo ended > ended.txt")}}, done},
	"empty":  {{}},
	"hang":   {{Text: "I begin with", End: Hang}},
	"cut":    {{Text: "I begin with", End: Cut}},
	"refuse": {{Text: "I can't help with that.", End: Refuse}},
	"limit":  {{Fail: Limit}}, "limit-reset": {{Fail: LimitReset}}, "overloaded": {{Fail: Overloaded}},
	"server-error": {{Fail: ServerError}}, "auth": {{Fail: Auth}}, "billing": {{Fail: Billing}}, "too-long": {{Fail: TooLong}},
}
