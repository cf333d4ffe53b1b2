// Package statecode turns states of the gate into bytes and back, part by part: what is of
// one session, and what the sessions of a principal, or all, share. A part is one JSON
// object, and one row for each value of a key that is not as the net at large.
//
// Nets, places and transitions are known by their names, and only nets that are not at
// their start are written, so that a session in which nothing has moved is tiny. What is
// unknown or broken is an error that names the part and the net, and never a guess.
//
// What was written under another policy is read as [gate.Policy.Adopt] takes it over: a
// net goes on if its name, its fingerprint and its shadow flag are as they were.
package statecode
