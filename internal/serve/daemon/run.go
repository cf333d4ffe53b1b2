package daemon

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/pipe"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/proxy"
)

// Run serves clients, either over in and out or at the configured address, until ctx is canceled or
// the stdio client disconnects. If Run creates a token, it writes the token to the given terminal.
// If terminal is nil, Run only logs the path of the token file.
func (d *Daemon) Run(ctx context.Context, in io.Reader, out, terminal io.Writer) error {
	slog.SetDefault(d.log) // keeps secrets out of the log records of libraries
	defer d.logEnd(ctx)()
	if err := recordBases(d.config); err != nil {
		return err
	}
	socket, err := control.Listen(RuntimeDir(), d)
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()
	unmonitor, err := d.monitor.serve(d.config.Telemetry.Metrics)
	if err != nil {
		return err
	}
	defer unmonitor()
	if err := d.console.start(); err != nil {
		return err
	}
	defer d.console.close()
	stopChannels, err := d.channels.start()
	if err != nil {
		return err
	}
	defer stopChannels()
	defer d.triggers.follow(ctx)()
	if d.config.Listen.Stdio {
		return d.serveStdio(ctx, in, out)
	}
	return d.serveHTTP(ctx, terminal)
}

// Hook handles an event that an agent reports through its hooks. It decides whether a call may run,
// records the outcome of a call that has ended, or ends the agent's session. It blocks while a
// person is being asked. It returns an error only if the agent is unknown.
func (d *Daemon) Hook(ctx context.Context, e proxy.HookEvent) (proxy.HookReply, error) {
	return d.Hooks.Serve(ctx, e)
}

// logEnd waits in the background until ctx is canceled, and then logs the reason. The log entry
// appears at once, even if the shutdown takes a while. The returned function waits until the reason
// has been logged. If ctx has not been canceled, it returns at once, and nothing is logged.
func (d *Daemon) logEnd(ctx context.Context) (wait func()) {
	said := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(said)
		d.log.Info("petrigate stops", "cause", context.Cause(ctx).Error())
	})
	return func() {
		if !stop() {
			<-said
		}
	}
}

// OutlivePipes keeps the process alive when a client or the reader of the log closes its pipe.
// Writes to the pipe then return an error, so that the proxy can shut down cleanly and record its
// end. The signal is caught rather than ignored, because child processes would inherit an ignored
// SIGPIPE.
func OutlivePipes() (stop func()) {
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGPIPE)
	return func() { signal.Stop(closed) }
}

// start starts the proxy and the review of its policy.
func (d *Daemon) start() {
	d.narrator.Start(d.feed, d.headline())
	d.Begin(cmp.Or(d.config.State.Driver, "memory"))
	d.begun.Store(true)
	d.Start()
	d.reloads.startReview(d)
}

// setAddress stores the address where clients can connect.
func (d *Daemon) setAddress(where string) { d.listen.Store(&where) }

// serveStdio serves a single client over stdio. It returns nil when the client disconnects.
func (d *Daemon) serveStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	if f, ok := out.(*os.File); ok && f == os.Stdout {
		os.Stdout = os.Stderr // keep other output out of the stream of MCP messages
	}
	d.setAddress("stdio")
	d.start()
	enlargePipe(out)
	in, closeIn := reopen(in)
	defer closeIn()
	out, closeOut := reopen(out)
	defer closeOut()
	client := &countingReader{Reader: in}
	err := d.ServeStdio(ctx, client, out)
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && ctx.Err() == nil && client.read.Load() == 0 {
		d.log.Warn("standard input ended before a client sent anything, so the proxy stops; " +
			"to run a proxy without a client, for example for hooks, use petrigate serve --http 127.0.0.1:7777")
	}
	return err
}

// A countingReader counts the bytes received from a client.
type countingReader struct {
	io.Reader
	read atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// reopen opens a pipe again in non-blocking mode if possible, so that reads and writes have less
// overhead; see package pipe. It also returns a function that closes the reopened file.
func reopen[T any](stream T) (T, func()) {
	f, ok := any(stream).(*os.File)
	if !ok {
		return stream, func() {}
	}
	mine := pipe.Reopen(f)
	if mine == f {
		return any(pipe.Shared{File: f}).(T), func() {}
	}
	return any(pipe.New(mine)).(T), func() { _ = mine.Close() }
}

// serveHTTP serves clients over HTTP. It listens before it starts anything else, so that it notices
// at once if the port is in use.
func (d *Daemon) serveHTTP(ctx context.Context, terminal io.Writer) error {
	l := d.config.Listen
	listener, err := listenAt(l.HTTP, l, d.log)
	if err != nil {
		return listenError(l.HTTP, err)
	}
	defer func() { _ = listener.Close() }()
	at := endpointURL(l, listener)
	d.setAddress(at)
	access, err := accessOf(l, listener, func(token, path string) { d.reportToken(terminal, token, path, at) })
	if err != nil {
		return err
	}
	if access.Several() {
		d.processors.useAll() // use all processors, so that the requests of one principal do not delay those of another
	}
	access.Beside = d.monitor.endpoint().Serve
	handler, err := d.Handler(access)
	if err != nil {
		return &InvalidError{err}
	}
	server := newServer(handler, l)
	if err := enableTLS(server, l.TLS, d.log); err != nil {
		return err
	}
	d.start()
	failed := make(chan error, 1)
	go func() { failed <- listener.serve(server, true) }()
	d.log.Info("listening", "url", at)
	if err := notifyReady(); err != nil {
		d.log.Warn(err.Error())
	}
	if host, _, _ := net.SplitHostPort(access.Addr); !IsLoopback(host) && l.TLS == nil {
		d.log.Warn("tokens and calls cross the network unencrypted: set listen.tls, or put a TLS proxy in front")
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	d.monitor.draining.Store(true)
	d.Drain()
	d.logOpenCalls()
	return shutdown(server, d.Proxy.Close)
}

// logOpenCalls logs the calls that the shutdown is waiting for, if any.
func (d *Daemon) logOpenCalls() {
	waiting, open := 0, 0
	for _, s := range d.Sessions() {
		waiting += s.Waiting
		open += len(s.Calls)
	}
	if waiting+open > 0 {
		d.log.Warn("waiting for calls in flight; they are cut off after a while, or at once with a second signal (Ctrl-C)",
			"while", drainTimeout, "under way", open, "waiting for a person", waiting)
	}
}

// accessOf returns the settings that determine who may connect. It reads or creates the tokens that
// clients need.
func accessOf(l config.Listen, listener net.Listener, onCreate func(token, path string)) (proxy.Access, error) {
	host, _, _ := net.SplitHostPort(l.HTTP) // cannot fail: the listener already uses this address
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	a := proxy.Access{
		Addr: net.JoinHostPort(host, port), TLS: l.TLS != nil, Path: l.Path, Hosts: l.AllowedHosts, Origins: l.AllowedOrigins, Hooks: l.Hooks,
		BodyTimeout: l.Timeouts.Body, IdleTTL: l.Idle, MaxSessions: l.MaxSessions, MaxAll: l.MaxSessionsTotal,
	}
	switch l.Auth {
	case "none":
		a.Open = true
	case "jwt":
		j := proxy.JWT(*l.JWT)
		a.JWT = &j
	default:
		t, err := loadTokens(l, onCreate)
		if err != nil {
			return a, err
		}
		a.Token, a.Tokens = t.unnamed, t.named
	}
	return a, nil
}

// endpointURL returns the URL of the MCP endpoint for clients on this machine.
func endpointURL(l config.Listen, listener net.Listener) string {
	scheme := "http"
	if l.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + shownAddr(listener) + cmp.Or(l.Path, "/mcp")
}
