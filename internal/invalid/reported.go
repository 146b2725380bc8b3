package invalid

import "errors"

// reportedError is one that the reader has seen already.
type reportedError struct{ err error }

func (e *reportedError) Error() string { return e.err.Error() }
func (e *reportedError) Unwrap() error { return e.err }

// AsReported marks an error that the reader has seen already, so that nobody prints it once more.
func AsReported(err error) error { return &reportedError{err} }

// Reported reports whether the reader has seen the error.
func Reported(err error) bool {
	var r *reportedError
	return errors.As(err, &r)
}
