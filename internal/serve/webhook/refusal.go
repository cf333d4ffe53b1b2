package webhook

import (
	"errors"
	"fmt"
	"net/http"
)

// A refusal explains why an answer was rejected. It contains the HTTP status of the response.
type refusal struct {
	status int
	err    error
}

// Error returns the reason why the answer was rejected.
func (e *refusal) Error() string { return e.err.Error() }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Errorf(format, args...)}
}

var errNotFound = refuse(http.StatusNotFound, "there is no such approval, or the link is invalid")

func statusOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.status
	}
	return http.StatusInternalServerError
}

func tooLong(err error) error {
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return refuse(http.StatusRequestEntityTooLarge, "the answer has more than %d bytes", maxAnswer)
	}
	return refuse(http.StatusBadRequest, "the answer cannot be read")
}
