package upstream

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
)

// New returns an upstream. It does nothing until Start is called.
func New(c conn.Config, o conn.Options) *Upstream {
	c.MaxMessage = cmp.Or(c.MaxMessage, defaultMaxMessage)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, defaultConnectTimeout)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	u := &Upstream{
		host: &conn.Host{
			Config: c, Options: o, Log: o.Logger.With("upstream", c.Name), Client: streamable.NewHTTPClient(c.TLS), Acked: make(chan int64, 4),
			Grace: conn.Grace{Exit: 2 * time.Second, Term: 2 * time.Second, Kill: 5 * time.Second, Tell: 2 * time.Second},
		},
		declared: []byte(`{}`), rewatch: make(chan struct{}, 1), probe: probeTimeout, meta: requestMeta(o.Version),
		settled: make(chan struct{}), finished: make(chan struct{}),
		state: conn.State{Since: time.Now(), Err: errors.New("not connected yet")},
	}
	u.host.Rev = u.Rev
	u.host.Renew = u.renew
	u.host.Renewed = func() { u.change(func(s *conn.State) { s.Since = time.Now() }) }
	return u
}

// renew repeats the handshake on c, because the server no longer knows the session.
func (u *Upstream) renew(ctx context.Context, c conn.Conn, version string) (*conn.Session, error) {
	a, err := u.handshake(ctx, c, version)
	if err != nil {
		return nil, err
	}
	u.locked(func() { u.inForce = a.declared })
	return a.session, nil
}

// Start connects in the background, and reconnects until ctx ends or Close is called. It returns
// immediately.
func (u *Upstream) Start(ctx context.Context) {
	u.startOnce.Do(func() {
		u.ctx, u.cancel = context.WithCancel(ctx)
		go u.supervise(u.ctx)
	})
}

// Close ends the connection and all processes of a child, and waits until they have ended. Requests
// in flight get their replies before that.
func (u *Upstream) Close() error {
	u.startOnce.Do(func() { close(u.finished) }) // Start was never called
	if u.cancel != nil {
		u.cancel()
	}
	<-u.finished
	return nil
}

const (
	defaultMaxMessage     = 64 << 20
	defaultConnectTimeout = 60 * time.Second
)
