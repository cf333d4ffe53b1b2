// Package listing reads the lists of upstreams and builds the lists for clients: it gives tools
// names that every client accepts, joins the lists of several upstreams, and omits elements that a
// client would read differently than the gate.
package listing
