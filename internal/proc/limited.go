package proc

import "time"

// bounded tells an end that a limit has brought about from any other.
func (r *running) bounded(end Result) Result {
	if r.passed.limit == "" {
		select {
		case r.passed = <-r.over: // it had ended before it was stopped
		default:
			r.passed = r.taken.told(end)
		}
	}
	if r.passed.limit == "" || end.Class != Limited && end.Class != Exited && end.Class != Signalled {
		return end
	}
	end.Class, end.Limit, end.Why = Limited, r.passed.limit, r.passed.why()
	return end
}

// observe looks at what the process takes until the function is called.
func (r *running) observe() (stop func()) {
	over := make(chan struct{})
	if r.taken.watched() {
		go func() {
			every := time.NewTicker(lookEvery)
			defer every.Stop()
			for {
				select {
				case <-over:
					return
				case <-every.C:
				}
				if e, ok := r.taken.look(r.tree); ok {
					r.over <- e
					return
				}
			}
		}()
	}
	return func() { close(over) }
}

// lookEvery is how often it is examined what a process takes.
const lookEvery = 100 * time.Millisecond
