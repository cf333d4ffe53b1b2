package daemon

import (
	"context"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// onHangUp reloads the configuration on each hang-up signal until ctx ends. The returned function
// wait waits until the last reload has finished.
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
