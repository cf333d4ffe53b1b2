// Package shadow reports which calls a policy in shadow mode would have refused, and ends shadow
// mode. It implements petrigate enforce and prints the report of petrigate sessions shadow.
package shadow
