package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/proxy"
)

// WithDatabase calls f with a proxy that uses the configured database, whether or not another proxy
// is running. The proxy passed to f has no clients and no policy, but still requires the configured
// PIN.
func WithDatabase(c *config.Config, f func(*proxy.Proxy) error) error {
	if err := errTextOnly(c); err != nil {
		return err
	}
	db, err := newDatabase(c, slog.New(slog.DiscardHandler))
	switch {
	case err != nil:
		return err
	case db == nil:
		return &InvalidError{fmt.Errorf("%s has no database, because state.driver is %s: send the command to the running proxy instead", c.File, c.State.Driver)}
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	if err := db.Try(ctx); err != nil {
		return err
	}
	p, err := proxy.New(proxy.Options{Database: db.LateBackend, Approval: proxy.Approval{PIN: c.Approval.PIN}})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(f(p), p.Close(), p.Leave(), db.Close())
}
