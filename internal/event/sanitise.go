package event

func Sanitise(s string) string { return s }
