package config

import _ "embed" // the workflow

// Workflow is the workflow that runs ralph, and where it goes: what docs/github.md shows, and what ralph init --github
// proposes.
//
//go:embed workflow.yml
var Workflow string

// WorkflowFile is its path from the top of the repository.
const WorkflowFile = ".github/workflows/ralph.yml"
