package daemon

import (
	"context"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// onHangUp reloads the configuration for each hang-up signal, until ctx ends. wait waits for the last
// reload.
func (t *reloadTriggers) onHangUp(ctx context.Context) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.hangUps:
				t.reload(ctx, control.Reload{Actor: "SIGHUP"})
			}
		}
	}()
	return func() { <-done }
}
