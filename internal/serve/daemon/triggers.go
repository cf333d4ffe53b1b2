package daemon

import (
	"context"
	"log/slog"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// A reloadTriggers value reloads the configuration on a hang-up signal, when a configuration file
// changes, and when a base policy changes.
type reloadTriggers struct {
	reloads *reloads
	reload  func(context.Context, control.Reload) control.Reloaded // reloads the configuration; see [Daemon.Reload]
	hangUps <-chan struct{}                                        // triggers a reload for each value received; may be nil
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
