//go:build !linux

package sqlite

func limits() map[string]func(path string) error { return nil }
