// Package argument reads what limits count in the arguments of calls: whether two calls are
// equal, and what amount one has. It is pure.
package argument
