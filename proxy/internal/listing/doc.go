// Package listing reads what upstreams list, and makes of it what clients are
// listed: names that every client takes, one list of the lists of several
// upstreams, and no element that a client would read in another way than the
// gate does.
package listing
