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
	"github.com/petrigate/petrigate/internal/serve/webhook"
)

// A webhookChannel posts approval requests to the operator's system and accepts its answers.
type webhookChannel struct {
	daemon *Daemon
	config *config.Webhook
	hook   *webhook.Hook
}

// openWebhook opens the webhook channel if approval.webhook configures one.
func openWebhook(d *Daemon) (channel, error) {
	w := d.config.Approval.Webhook
	if w == nil {
		return nil, nil
	}
	secure, err := clientTLS(w.TLS)
	if err != nil {
		return nil, &InvalidError{fmt.Errorf("reading the tls of the webhook: %w", err)}
	}
	hook, err := webhook.New(webhook.Options{
		URL: w.URL, TLS: secure, Secret: w.Secret, Arguments: w.Arguments, Mask: w.Mask, Approvals: d, Log: d.log,
	})
	if err != nil {
		return nil, &InvalidError{err}
	}
	return &webhookChannel{d, w, hook}, nil
}

func (c *webhookChannel) announce(a operator.ApprovalInfo) { c.hook.Asked(a) }

func (c *webhookChannel) describe(s *operator.Status) {
	s.Webhook = c.hook.Status()
	s.Webhook.Error = c.daemon.secrets.Replace(s.Webhook.Error)
}

func (c *webhookChannel) close() { c.hook.Close() }

const (
	maxAnswerConns = 256             // maximum number of connections to the address that accepts answers
	listenAgain    = 2 * time.Second // interval between attempts to listen at an address that is in use
)

// start accepts answers at the address in approval.webhook until stop is called.
func (c *webhookChannel) start() (stop func(), err error) {
	d, w := c.daemon, c.config
	listener, err := listenAt(w.Listen, smallLimits(maxAnswerConns), d.log)
	switch {
	case err == nil:
		c.hook.Start(w.Base(listener.Addr().String()))
		d.log.Info("accepting answers for the webhook", "url", w.Base(shownAddr(listener)))
	case errors.Is(err, syscall.EADDRINUSE) && d.database != nil: // not an error: another stdio proxy with the same configuration may use the address
		c.hook.Start(w.Base(w.Listen))
		d.log.Warn("another process uses the address for the webhook's answers: it also accepts this process's answers if it is a petrigate with the same configuration", "address", w.Listen)
	default:
		return nil, listenError(w.Listen, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { c.takeAnswers(ctx, listener, listenAgain) })
	return func() {
		cancel()
		work.Wait()
	}, nil
}

// takeAnswers accepts answers to approval requests over HTTP until ctx is done. If listener is nil,
// takeAnswers first tries to listen at the configured address. It repeats the attempt at the given
// interval until it succeeds.
func (c *webhookChannel) takeAnswers(ctx context.Context, listener *limitListener, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for listener == nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if free, err := listenAt(c.config.Listen, smallLimits(maxAnswerConns), c.daemon.log); err == nil {
			listener = free
			c.daemon.log.Info("accepting answers for the webhook", "address", shownAddr(listener))
		}
	}
	server := newServer(c.hook.Handler(), config.Listen{})
	server.WriteTimeout = writeTimeout
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	_ = listener.serve(server, false) // serve returns when ctx is done
}
