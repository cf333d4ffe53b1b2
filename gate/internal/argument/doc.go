// Package argument reads call arguments for limits: whether two calls are equal, and the amount of
// a call. It has no state.
package argument
