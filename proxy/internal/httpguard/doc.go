// Package httpguard authenticates the requests to an HTTP endpoint and limits the resources that
// their senders can use.
//
// A [Guard] checks that Host and Origin belong to the endpoint, so that pages of other sites cannot
// call it. It then checks one of three proofs: a bearer token configured by the operator, a JWT
// from an authorization server or, on loopback addresses, none. A [Caller] is the sender of an
// accepted request. Callers with different kinds of proof never share a principal. Open requests
// and the bytes of large messages are counted per principal and in total, so that no principal can
// use up the resources of others.
//
// If the guard rejects a request, it writes the response itself. The response contains only the
// reason.
package httpguard
