// Package listing reads the lists of upstreams and builds the lists for clients: it gives tools
// names that every client accepts, joins the lists of several upstreams, and leaves out elements
// that a client would interpret differently from the gate.
package listing
