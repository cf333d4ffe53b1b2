// Package httpguard authenticates the requests to an HTTP endpoint and limits the resources that
// their senders can occupy.
//
// A [Guard] checks that Host and Origin belong to the endpoint, so that pages of other sites cannot
// call it, and one of three proofs: a bearer token that the operator configured, a JWT of an
// authorization server, or, on loopback, none. A [Caller] is the sender of an admitted request.
// Callers with different proofs never share a principal. Open requests and the bytes of large
// messages are counted by principal and in total, so that one principal with too many leaves room
// for others.
//
// The guard itself answers every request that it rejects, with only the reason.
package httpguard
