package daemon

import (
	"net"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/desktop"
	"github.com/petrigate/petrigate/internal/serve/webhook"
	"github.com/petrigate/petrigate/proxy"
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
		a.hook, err = webhook.New(webhook.Options{
			URL: w.URL, Secret: w.Secret, Arguments: w.Arguments, Mask: w.Mask, Approvals: d, Log: d.log,
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
func (a asking) asked(info proxy.ApprovalInfo) {
	if a.hook != nil {
		a.hook.Asked(info)
	}
	if a.desktop != nil {
		a.desktop.Show(desktop.Line(info.ID, info.Tool, info.Upstream, info.Client))
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

// serveHook takes answers of the webhook at the address of approval.webhook, until stop.
func (d *Daemon) serveHook() (stop func(), err error) {
	w := d.config.Approval.Webhook
	if w == nil {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", w.Listen)
	if err != nil {
		return nil, listenError(w.Listen, err)
	}
	server := newServer(d.asking.hook.Handler(), config.Listen{})
	server.ReadTimeout, server.WriteTimeout = writeTimeout, writeTimeout
	limited := newLimitListener(listener, config.Listen{MaxConnections: maxAnswering}, d.log)
	d.asking.hook.Start(w.Base(listener.Addr()))
	d.log.Info("taking answers of the webhook", "url", w.Base(listener.Addr()), "address", shownAddr(listener))
	go func() { _ = server.Serve(limited) }() // it ends with the server
	return func() { _ = server.Close() }, nil
}

// maxAnswering is how many connections those who answer may have open.
const maxAnswering = 256
