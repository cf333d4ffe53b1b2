package daemon

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
)

// logBases logs the base policies in force and stores them for [Daemon.Status].
func (d *Daemon) logBases(c *config.Config) {
	var all []operator.BaseInfo
	for _, b := range c.Bases {
		d.log.Info("the policy extends a base", "base", b.Name, "version", b.Version, "digest", b.Digest, "key", b.KeyID(), "from", b.File)
		all = append(all, operator.BaseInfo{Name: b.Name, Version: b.Version, Digest: b.Digest, Key: b.KeyID(), From: b.File, Copy: b.Copy})
	}
	d.bases.Store(&all)
}

// nextRefresh returns how long to wait before fetching the base policies again. It returns 0 if no
// base policy has a refresh interval.
func (s *reloads) nextRefresh() (every time.Duration) {
	c, _ := s.inForce()
	for _, b := range c.Bases {
		if b.Refresh > 0 && (every == 0 || b.Refresh < every) {
			every = b.Refresh
		}
	}
	return every
}

// refresh fetches the base policies again at the configured interval until ctx is done.
func (t *reloadTriggers) refresh(ctx context.Context) {
	for {
		var due <-chan time.Time
		if every := t.reloads.nextRefresh(); every > 0 {
			due = time.After(every)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.reloads.adopted:
		case <-due:
			t.refreshBases(ctx)
		}
	}
}

// refreshBases loads the configuration again, and triggers a reload if a base has changed or become
// invalid.
func (t *reloadTriggers) refreshBases(ctx context.Context) {
	c, err := t.reloads.load()
	if err == nil {
		for _, b := range c.Bases {
			if b.Copy != "" {
				t.log.Warn("a base policy cannot be fetched: a newer one could exist", "base", b.Name, "version", b.Version, "from", b.File, "error", b.Copy)
			}
		}
		if now, _ := t.reloads.inForce(); sameBases(c, now) {
			return
		}
	}
	t.reload(ctx, control.Reload{Actor: "refreshed base"})
}
