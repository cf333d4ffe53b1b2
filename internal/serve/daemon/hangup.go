package daemon

import (
	"context"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// onHangUp reads the configuration again for each signal that comes. The function that it
// returns waits for the last time.
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
