package daemon

import (
	"context"
	"log/slog"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// reloadTriggers causes the reloads that no operator requests.
type reloadTriggers struct {
	reloads *reloads
	reload  func(context.Context, control.Reload) control.Reloaded // see [Daemon.Reload]
	hangUps <-chan struct{}                                        // each value triggers a reload; may be nil
	log     *slog.Logger
}
