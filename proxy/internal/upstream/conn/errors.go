package conn

import (
	"errors"
	"fmt"
)

// ErrNotSent means that no byte of the request has left this process. Errors of this kind wrap
// ErrNotSent and add the reason.
var ErrNotSent = errors.New("request not sent")

// An Unsent is ErrNotSent with a reason.
type Unsent struct{ Why error }

func NotSent(why error) error { return &Unsent{why} }

func (e *Unsent) Error() string   { return ErrNotSent.Error() + ": " + e.Why.Error() }
func (e *Unsent) Unwrap() []error { return []error{ErrNotSent, e.Why} }

// A Lost error means that the connection ended before an answer arrived.
type Lost struct {
	Sent  bool  // whether some bytes of the request may have reached the server, so that the outcome is unknown
	Dead  bool  // whether all of the server's processes have exited, so that none is still working on the request
	Cause error // what ended the connection
}

func (e *Lost) Error() string {
	switch {
	case !e.Sent:
		return "connection lost before the request was sent: " + e.Cause.Error()
	case e.Dead:
		return "the server ended before it answered: " + e.Cause.Error()
	}
	return "connection lost before the answer came: " + e.Cause.Error()
}

// Unwrap returns the cause. If the request was not sent, it also returns [ErrNotSent].
func (e *Lost) Unwrap() []error {
	if e.Sent {
		return []error{e.Cause}
	}
	return []error{ErrNotSent, e.Cause}
}

// A StatusError is an HTTP error status without a JSON-RPC error.
type StatusError struct {
	Code    int
	Excerpt string // beginning of the body: short, printable, and without the proxy's credentials
}

func (e *StatusError) Error() string {
	if e.Excerpt == "" {
		return fmt.Sprintf("the server answered with HTTP status %d", e.Code)
	}
	return fmt.Sprintf("the server answered with HTTP status %d: %s", e.Code, e.Excerpt)
}

// Executed reports whether the request may have been executed. It returns false for a status that
// means that the request was refused before it was executed.
func (e *StatusError) Executed() bool {
	switch e.Code {
	case 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 429, 431:
		return false
	}
	return e.Code < 300 || e.Code > 399
}

// A Permanent is an error that another attempt cannot fix.
type Permanent struct{ error }

// Permanently marks err as an error that another attempt cannot fix.
func Permanently(err error) Permanent { return Permanent{err} }

// Unwrap returns the marked error.
func (p Permanent) Unwrap() error { return p.error }
