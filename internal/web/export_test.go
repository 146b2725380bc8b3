package web

import "time"

// Row is a route as tests see it.
type Row struct {
	Pattern          string
	Guarded, OfThing bool
}

// Table are all routes.
func Table() (rows []Row) {
	for _, rt := range routes {
		rows = append(rows, Row{rt.pattern, rt.need != anybody, permissions[rt.need] != NoPermission})
	}
	return rows
}

// Pace makes streams faster, for tests.
func Pace(beat, check, look time.Duration) (restore func()) {
	b, c, l := heartbeat, recheck, lookAgain
	heartbeat, recheck, lookAgain = beat, check, look
	return func() { heartbeat, recheck, lookAgain = b, c, l }
}
