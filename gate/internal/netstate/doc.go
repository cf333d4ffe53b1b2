// Package netstate represents the state of one net as plain data: tokens, calls in flight, clocks,
// spent sums, and the same for each value of a key. It copies and compares states; package gate
// interprets them and moves the nets. It has no mutable state of its own.
package netstate
