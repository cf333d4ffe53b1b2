// Package shadow reports what policies in shadow mode would have refused, and ends shadow mode. It
// implements petrigate enforce and the output of petrigate sessions shadow.
package shadow
