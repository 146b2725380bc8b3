package loop

// WorkBranch is a branch that holds commits of a run for whoever reads of it: on the remote, or of a run on a laptop in
// the clone. Only a state makes one, of what its record knows to be there, so that no report can name a branch that
// nobody has. The zero value is none.
type WorkBranch struct{ name string }

// Name is "ralph/issue-42"; empty: there is no branch.
func (b WorkBranch) Name() string { return b.name }

// Branch is the run's own branch, once a commit of the run is on it. In a dry run there is none: what it commits goes
// with its checkout.
func (s State) Branch() WorkBranch {
	if s.Tip == "" || s.Tip == s.Start.Base || s.Start.DryRun {
		return WorkBranch{}
	}
	return WorkBranch{s.Start.Branch}
}

// GivenUp is the branch that keeps what a run did before it went back to an earlier commit.
func (s State) GivenUp() WorkBranch {
	if s.Back == nil || s.Start.DryRun {
		return WorkBranch{}
	}
	return WorkBranch{s.Back.Branch}
}

// Kept is the branch that keeps the work of a run that has ended: the failure branch where there is one, else its own.
func (s State) Kept() WorkBranch {
	if s.End != nil && s.End.FailureBranch != "" && !s.Start.DryRun {
		return WorkBranch{s.End.FailureBranch}
	}
	return s.Branch()
}
