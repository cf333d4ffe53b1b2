// Package argument reads the arguments of calls for limits: whether two calls are equal, and the
// amount of a call. It has no state.
package argument
