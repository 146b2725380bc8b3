package git

// BeginFresh makes Start begin at the base again, as Options.Fresh does; for callers that know it only after they have read the run
// record.
func (t *Tree) BeginFresh() {
	t.o.Fresh = true
	t.head, t.headTree = t.base, t.baseTree
}
