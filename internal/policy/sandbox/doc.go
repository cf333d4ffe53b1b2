// Package sandbox plays a policy without servers: calls, answers of people, results
// and time are made up ([Session]).
package sandbox
