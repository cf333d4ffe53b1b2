//go:build !race

package testbinary

func flags() []string { return nil }
