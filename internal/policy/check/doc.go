// Package check is about what is known of a policy before anybody calls: it holds
// what a user claims of one to what can be proved.
package check
