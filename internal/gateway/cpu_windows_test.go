package gateway

// cpuTime is not measured here.
func cpuTime() time.Duration { return 0 }
