// Package netstate has what a policy remembers of one net as plain data: tokens, calls
// in flight, clocks, what is spent, and all of that for each value of a key. It copies
// and compares states; what they mean, and how a net moves, is for package gate. It is
// pure.
package netstate
