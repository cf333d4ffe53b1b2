//go:build !unix

package process

import "log/slog"

// A Watchdog does nothing on this operating system.
type Watchdog struct {
	Logger *slog.Logger // not used on this operating system
}

func (*Watchdog) Watch(int)  {}
func (*Watchdog) Forget(int) {}

// Close does nothing.
func (*Watchdog) Close() error { return nil }
