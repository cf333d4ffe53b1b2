//go:build race

package e2e

// buildFlags build petrigate as these tests are built.
func buildFlags() []string { return []string{"-race"} }
