// Package git is the door to git, always through the git binary (2.39 or newer). A Tree is a run's working tree: a
// checkout of its own, of a remote or over the objects of a person's clone, whose agent is not trusted.
package git

// Tree is the working tree of one run: a checkout with a repository of the agent's own in it, and a repository of the
// harness's beside it. It is not safe for use by two goroutines at once.
type Tree struct {
	history
	submodules
	origin origin
	record string // newest commit of the run record, "" before the first
	pushed pushed
	pushing
	aside bool // what the branch has is of another run, and is kept elsewhere
}

// Renew gives the tree another token for its remote, when the one before is about to expire.
func (t *Tree) Renew(token string) { t.o.Remote.Token = token }

// submodules are those of a run's tree.
type submodules struct {
	modules map[string]module // those of the run's first commit and of newer bases, by path
}

// module is a submodule as it was before the first turn.
type module struct {
	objects string   // its directory of objects; empty: the origin has not checked it out
	commit  string   // that the run's base has of it
	known   []string // commits that its remote is known to have, or newer bases have of it
}

// pushed is what the remote is known to have; "" is nothing.
type pushed struct {
	branch, record string
	tip            string // of a clone: the commit that was held there when the tree was opened
}

// pushing is what else pushes need to know.
type pushing struct {
	offered  []pushed  // what was pushed since the remote has last answered a push
	whole    bool      // the branch is pushed without a commit of the run, too
	deleting RemoteRef // on the remote, with the next push of the record; see DeleteWithRecord
}

// RemoteRef is a ref of the remote at a commit.
type RemoteRef struct{ Name, Commit string }
