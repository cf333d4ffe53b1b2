// Package toolnet defines nets as their authors write them: Petri nets whose transitions list
// tools. It also defines the calls that these nets refer to. It checks nets ([Net.Check]) and
// analyzes their behavior ([Net.Explore], [Net.States]). Package gate combines nets into a policy
// and decides on calls.
//
// A [Net] has places with an initial marking and a list of [Transition] values. A transition with a
// list of [Tool] entries fires when a call with a matching name is admitted. A transition without
// tools fires by itself, either at once or periodically. The token flow thus restricts the order
// and the number of calls.
//
// A [Call] can have several names. A [Map] derives names from the arguments, and may use a [Reader]
// that parses a field, for example as a shell script. A name can be uncertain. It can also be weak:
// a weak name restricts the call, but the call's success does not count toward a requirement for
// this name.
//
// A net with a key ([Field]) has a separate marking for each value of the key. A [Sum] limits the
// sum of a numeric argument, and a [Phase] allows only certain tools while a place is marked.
//
// All types are plain data without locks. The functions in their fields must be safe for concurrent
// use.
package toolnet
