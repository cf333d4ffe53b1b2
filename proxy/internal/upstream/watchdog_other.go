//go:build !unix

package upstream

import "log/slog"

// A Watchdog does nothing on this system.
type Watchdog struct {
	Logger *slog.Logger // not used
}

func (*Watchdog) watch(int)  {}
func (*Watchdog) forget(int) {}

// Close does nothing.
func (*Watchdog) Close() error { return nil }
