package regex

// All are the patterns of every room that the test brings in.
func All() []*Pattern { return all }
