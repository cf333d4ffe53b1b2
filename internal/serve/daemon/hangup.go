package daemon

import (
	"context"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// onHangUp reloads the configuration on each hang-up signal until ctx ends.
func (t *reloadTriggers) onHangUp(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.hangUps:
			t.reload(ctx, control.Reload{Actor: "SIGHUP"})
		}
	}
}
