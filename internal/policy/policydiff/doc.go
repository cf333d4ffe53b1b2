// Package policydiff says whether a policy is stricter or looser than another.
//
// It plays the same calls under both ([Compare]) and shows for each direction the
// shortest calls after which they decide differently.
package policydiff
