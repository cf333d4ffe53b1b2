// Package httpguard authenticates the requests to an HTTP endpoint and bounds what
// their senders can have it hold.
//
// A [Guard] checks that Host and Origin are those of the endpoint, so that no page
// of another site can call it, and one of three proofs: a bearer token that the
// operator configured, a JWT of an authorization server, or, on loopback, none. A
// [Caller] is the sender of an admitted request; its principal is never that of
// another proof. Open requests and the bytes of large messages are counted by
// principal and in all, so that one principal with too many leaves room for others.
//
// The guard has answered every request that it rejects, with no more than the
// reason.
package httpguard
