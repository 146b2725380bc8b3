package task

// Externals are the verifications by commands that a promise does not hold without, in their order.
func (c Criteria) Externals() (all []*Verification) {
	switch v := c.Config; {
	case v == nil:
	case c.Method == External || c.Method == "" && v.Command != "":
		all = append(all, v)
	case c.Method == MultiStage:
		for _, s := range v.Stages {
			if s.Method == External && s.Config != nil && (s.Required == nil || *s.Required) {
				all = append(all, s.Config)
			}
		}
	}
	return all
}
