// Package sandbox runs a policy without servers: calls, approvals, results and time are simulated.
//
// A [Sandbox] has one [Session] per participant, with shared state as in a proxy, and a clock that
// only [Sandbox.Wait] advances. [Session.Call] makes a call directly; [Session.Play] plays an
// [Event], which is the JSON form used in cases and counterexamples. A Sandbox must not be used
// concurrently.
package sandbox
