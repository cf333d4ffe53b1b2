// Package sandbox runs a policy without servers: calls, approvals, results and time are simulated.
//
// A [Sandbox] has one [Session] per participant, and a clock that only [Sandbox.Wait] advances. The
// sessions share state as they would in a proxy. [Session.Call] makes a call directly;
// [Session.Play] plays an [Event], whose JSON encoding is used in cases and counterexamples. A
// Sandbox must not be used concurrently.
package sandbox
