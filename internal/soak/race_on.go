//go:build race

package soak

// Race says that the race detector looks on.
const Race = true
