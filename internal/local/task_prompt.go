package local

import (
	_ "embed"
)

// TaskPrompt is what a coding agent is told that writes tasks: every task says what done means.
//
//go:embed task_prompt.md
var TaskPrompt string
