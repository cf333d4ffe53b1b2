package daemon

import (
	"context"
	"log/slog"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// A reloadTriggers value triggers reloads for any reason other than an operator's request.
type reloadTriggers struct {
	reloads *reloads
	reload  func(context.Context, control.Reload) control.Reloaded // see [Daemon.Reload]
	hangUps <-chan struct{}                                        // each value triggers a reload; may be nil
	log     *slog.Logger
}

// onHangUp reloads the configuration on each hang-up signal until ctx is done.
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
