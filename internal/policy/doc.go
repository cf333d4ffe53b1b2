// Package policy makes one gate policy of everything that a user wrote: rules,
// nets, maps, the default. [Build] reports all problems of all parts at once,
// in the form that "check --json" prints.
package policy
