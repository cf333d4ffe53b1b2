// Package cel reads the expressions of policies: the condition of a map, the
// requirement of a validator, the value that a net remembers. They are written
// in CEL, checked once when a policy is loaded, and bounded in what they may
// cost, so that no call can make a decision slow.
//
// A map's expression sees the call:
//
//	args         the arguments, a map
//	tool         the physical name of the tool
//	upstream     the name of the server that has it
//	annotations  what that server says of the tool, a map
//
// A net's expression sees the call and the net:
//
//	args         the arguments, a map
//	tool         the name under which the net gates the call
//	meta         what the net remembers, a map
//	marking      the tokens in each place, a map of numbers
//
// Beside the functions of CEL there are lowerAscii, upperAscii, trim, split,
// join and replace of strings, and two on paths:
//
//	clean(path)        the path without ".", ".." and double separators
//	within(path, dir)  whether the path, cleaned, is dir or below it; fails if its text does not tell
//
// Both look at the text alone and never at a disk: they do not follow links.
// There is no clock, no environment, no randomness, and patterns are RE2.
//
// A number is an int where it is whole and fits in 64 bits, a uint where it is
// one bit larger, and a double otherwise. What none of them can hold makes the
// expression fail, and so does whatever else goes wrong: a field that is not
// there, two types that do not fit, too much work. A failure is never taken
// for false: of a map it is "perhaps", of a validator a refusal.
package cel
