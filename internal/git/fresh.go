package git

// BeginFresh makes Start begin at the base again, where the base branch is now, as Options.Fresh does; for callers that know it only after they have read the run
// record.
func (t *Tree) BeginFresh() {
	t.o.Fresh = true
	if t.newest[0] != "" {
		t.base, t.baseTree = t.newest[0], t.newest[1]
	}
	t.head, t.headTree = t.base, t.baseTree
}
