//go:build !linux

package journal

func limits() map[string]func(path string) error { return nil }
