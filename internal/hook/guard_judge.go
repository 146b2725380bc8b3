package hook

import "slices"

// judge holds a call against every kind of danger; the first that fits counts.
func judge(c call) *finding {
	touched, rules := c.touched(), rulesFor(c)
	for i := range dangers {
		d := &dangers[i]
		for _, r := range rules[d.name] {
			if what := r.finds(c); what != "" {
				return &finding{d, what}
			}
		}
		for _, t := range touched {
			if d.touches == nil {
				break
			}
			if what := d.touches(t); what != "" {
				return &finding{d, what}
			}
		}
	}
	return nil
}

func dangerCalled(name string) *category {
	return &dangers[slices.IndexFunc(dangers, func(d category) bool { return d.name == name })]
}
