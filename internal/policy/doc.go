// Package policy makes one gate policy of everything that a user wrote: rules,
// nets, maps, the default. [Build] reports all problems of all parts at once,
// in the form that "check --json" prints.
//
// [Eval] tries policies offline: it reads cases (a policy and a sequence of
// calls and results), one a line, and writes what the gate decides.
package policy
