package text

import (
	"errors"
)

// Innermost returns the error that err wraps, without what was wrapped around it.
func Innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
