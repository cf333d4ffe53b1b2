// Package shadow is about policies in shadow: what they would have refused, and how they come to be
// enforced: what petrigate enforce and petrigate sessions shadow do.
package shadow
