// Package listing reads the lists sent by upstreams and builds the lists for clients. It joins the
// lists of several upstreams, gives each tool a name that every client accepts, and leaves out
// elements that a client would interpret differently from the gate.
package listing
