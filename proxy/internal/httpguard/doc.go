// Package httpguard authenticates the requests to an HTTP endpoint and limits the resources that
// their senders can use.
//
// A [Guard] checks that Host and Origin belong to the endpoint, so that pages of other sites cannot
// call it. It then checks the request's bearer token, which is either configured by the operator or
// a JWT from an authorization server. On loopback addresses, requests without a token can be
// allowed. A [Caller] is the sender of an accepted request. Callers that authenticate in different
// ways never share a principal. Open requests and the bytes of large messages are counted per
// principal and in total, so that no principal can use up the resources of others.
//
// If the guard rejects a request, it writes the response itself. The response contains only the
// reason.
package httpguard
