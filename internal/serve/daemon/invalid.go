package daemon

// An InvalidError reports a mistake in the configuration or in a file that it names.
type InvalidError struct{ Err error }

// Error returns the message of the wrapped error.
func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *InvalidError) Unwrap() error { return e.Err }
