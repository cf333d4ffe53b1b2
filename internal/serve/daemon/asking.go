package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/desktop"
	"github.com/petrigate/petrigate/internal/serve/webhook"
)

// asking is who is told of calls that begin to wait for a person, beside the client.
type asking struct {
	hook    *webhook.Hook     // nil: none
	desktop *desktop.Notifier // nil: none
}

// newAsking returns who the configuration wants to be told. The proxy of d need not be there
// yet.
func (d *Daemon) newAsking() (a asking, err error) {
	c := d.config.Approval
	if w := c.Webhook; w != nil {
		secure, err := clientTLS(w.TLS)
		if err != nil {
			return a, &InvalidError{fmt.Errorf("reading the tls of the webhook: %w", err)}
		}
		a.hook, err = webhook.New(webhook.Options{
			URL: w.URL, TLS: secure, Secret: w.Secret, Arguments: w.Arguments, Mask: w.Mask, Approvals: d, Log: d.log,
		})
		if err != nil {
			return a, &InvalidError{err}
		}
	}
	if c.Desktop {
		a.desktop = desktop.New(d.log)
	}
	return a, nil
}

// asked tells them of an approval. It does not block.
func (a asking) asked(info operator.ApprovalInfo) {
	if a.hook != nil {
		a.hook.Asked(info)
	}
	if a.desktop != nil {
		a.desktop.Show(desktop.Line(info.ID, info.Tool, info.Upstream, info.Principal, info.Client))
	}
}

// close ends what is being told.
func (a asking) close() {
	if a.hook != nil {
		a.hook.Close()
	}
	if a.desktop != nil {
		a.desktop.Close()
	}
}

const (
	maxAnswering = 256             // connections that those who answer may have open
	listenAgain  = 2 * time.Second // how often the address for answers is tried that another process has
)

// serveHook takes answers of the webhook at the address of approval.webhook, until stop.
func (d *Daemon) serveHook() (stop func(), err error) {
	w := d.config.Approval.Webhook
	if w == nil {
		return func() {}, nil
	}
	listener, err := listenAt(w.Listen, beside(maxAnswering), d.log)
	switch {
	case err == nil:
		d.asking.hook.Start(w.Base(listener.Addr().String()))
		d.log.Info("taking answers of the webhook", "url", w.Base(shownAddr(listener)))
	case errors.Is(err, syscall.EADDRINUSE) && d.database != nil: // as by a second client over stdio, with the same configuration
		d.asking.hook.Start(w.Base(w.Listen))
		d.log.Warn("another process has the address for answers of the webhook: it takes those for this one too, if it is a petrigate with the same configuration", "address", w.Listen)
	default:
		return nil, listenError(w.Listen, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { d.takeAnswers(ctx, listener, listenAgain) })
	return func() {
		cancel()
		work.Wait()
	}, nil
}

// takeAnswers serves the listener until ctx ends; nil: one that it makes once the address is
// free, which it tries again and again.
func (d *Daemon) takeAnswers(ctx context.Context, listener *limitListener, again time.Duration) {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for listener == nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if free, err := listenAt(d.config.Approval.Webhook.Listen, beside(maxAnswering), d.log); err == nil {
			listener = free
			d.log.Info("taking answers of the webhook", "address", shownAddr(listener))
		}
	}
	server := newServer(d.asking.hook.Handler(), config.Listen{})
	server.WriteTimeout = writeTimeout
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	_ = listener.serve(server, false) // it ends with ctx
}
