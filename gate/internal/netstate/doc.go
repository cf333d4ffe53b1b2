// Package netstate represents a net's state as plain data: tokens, calls in flight, clocks, spent
// sums, and the same for each key value. It copies and compares states. Package gate interprets
// them and moves the nets. Package netstate has no mutable state of its own.
package netstate
