// Package cel compiles and evaluates the expressions in policies: conditions of map statements,
// requirements that nets place on calls (validators), values that nets remember, keys and sums of
// nets, messages, and conditions on results. Expressions are written in CEL (https://cel.dev). They
// are checked once, when the policy is loaded. Their cost is limited, so that no call can slow down
// a decision.
//
// The expression of a map statement (see [gate.Map]) decides whether a call gets a certain name.
// The expression of a key or a sum computes a value from a call. Both can use these variables:
//
//	args         the arguments, a map
//	tool         the physical name of the tool
//	upstream     the name of the server that provides the tool
//	annotations  the tool annotations of that server, a map
//
// The expressions of validators, remembered values and messages can use these variables:
//
//	args         the arguments, a map
//	tool         the name that the net uses for the tool
//	meta         the values that the net remembers, a map
//	marking      the number of tokens in each place, a map
//	result       the result of the call; only for a value that the net remembers
//
// A condition on a result can use the variables tool, text and result.
//
// In addition to CEL's standard functions, there are lowerAscii, upperAscii, trim, split, join and
// replace for strings, and two functions for paths:
//
//	clean(path)        the path without ".", ".." and double separators, as far as possible
//	within(path, dir)  whether the path, cleaned, is dir or below it; fails if the text alone does not determine this
//
// Both path functions use only the text and never access a disk, so they do not follow links.
// Expressions cannot use a clock, the environment or random numbers. Regular expressions have the
// RE2 syntax.
//
// A number is an int if it is an integer that fits into a signed 64-bit integer, a uint if it fits
// only into an unsigned one, and a double if it is not written as an integer. An expression fails
// if a number fits none of these types, a field is missing, types are incompatible, or the
// evaluation would cost too much. If the expression of a map statement fails, it is uncertain
// whether the call has the name; if that of a key or a sum fails, the call has no value; if the
// requirement of a validator fails, the call is refused; and if a condition on a result fails, it
// counts as false.
//
// A [Compiler] compiles expressions. It compiles the conditions and values of nets ([Condition],
// [Value]), and messages with embedded expressions ([Template]). A [Reader] holds the expressions
// of map statements, keys and sums, and a [Results] holds the conditions on results. All of them
// are safe for concurrent use once the last expression has been added. An [Input] provides the data
// of one firing of a transition and must be used by one goroutine only. The package starts no
// goroutines.
package cel
