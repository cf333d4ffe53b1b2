package daemon

import (
	"context"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// onHangUp reloads the configuration for each signal, until ctx ends. wait waits for the last
// reload.
func (d *Daemon) onHangUp(ctx context.Context, signals <-chan struct{}) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				d.Reload(ctx, control.Reload{Actor: "SIGHUP"})
			}
		}
	}()
	return func() { <-done }
}
