// Package door stands before an endpoint over HTTP. It says who may come in,
// and bounds what those who are in can have it hold.
//
// A [Door] wants the Host and the Origin of a request to be its own, so that no
// page of somebody else's can ask, and one of three proofs: a bearer token of
// the operator's, a JWT of an authorization server, or, on loopback, none. Who
// has come in is a [Visitor], with a principal that is never that of another
// proof. Open requests and the bytes of large messages are counted by principal
// and in all: one who has too many leaves room for the others.
//
// Whoever is not let in has been answered, and knows no more than why.
package door
