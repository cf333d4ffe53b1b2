package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func newServe(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve [FILE]",
		Short: "Run the proxy that a configuration describes",
		Long: "serve runs the proxy: over stdio, so that an MCP client can start it, or at an HTTP address.\n" +
			"In stdio mode standard output carries the protocol alone; logs go to standard error.",
		Args: cobra.MaximumNArgs(1),
	}
	var addr address
	c.Flags().Var(&addr, "http", "serve streamable HTTP there instead of stdio")
	auth := choose(c.Flags(), "auth", "", "authentication over HTTP", "token", "jwt", "none")
	level := choose(c.Flags(), "log-level", "", "what to log", "debug", "info", "warn", "error")
	c.RunE = func(c *cobra.Command, files []string) error {
		if err := servedFile(c, files); err != nil {
			return err
		}
		flags := map[string]string{}
		for name, value := range map[string]string{"listen.http": string(addr), "listen.auth": *auth, "log.level": *level} {
			if value != "" {
				flags[name] = value
			}
		}
		path, _ := c.Flags().GetString("config")
		cfg, err := config.Load(config.Options{Path: path, Flags: flags})
		if file := configIn("."); errors.Is(err, config.ErrNotFound) && file != "" {
			return fmt.Errorf("%w; the one in this folder is served by petrigate serve --config ./%s", err, file)
		}
		if err != nil {
			return err
		}
		return serve(c.Context(), s, cfg)
	}
	return c
}

// servedFile takes a configuration that was given without --config.
func servedFile(c *cobra.Command, files []string) error {
	if len(files) == 0 {
		return nil
	}
	var ruleFiles, nets []string
	if err := givenFiles(c, files, &ruleFiles, &nets); err != nil {
		return err
	}
	if len(ruleFiles)+len(nets) > 0 {
		return usage("serve wants a configuration, and %q is none; petrigate wrap takes rules and nets for one server", files[0])
	}
	return nil
}

// serve runs a proxy until ctx or its client ends it.
func serve(ctx context.Context, s stdio, cfg *config.Config) error {
	result, review, err := policyOf(ctx, s.err, cfg)
	if err != nil {
		return err
	}
	if err := runnable(s.err, cfg); err != nil {
		return err
	}
	tuneMemory()
	defer outlivePipes()() // until all has ended, and said so
	p, err := build(cfg, result, newLogger(s.err, cfg.Log, cfg.Secrets()...))
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	slog.SetDefault(p.log) // what libraries say is a record like any other, without the secrets
	p.review = review
	defer announceEnd(ctx, p.log)()
	socket, err := control.Listen(runtimeDir(), p)
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()
	if cfg.Listen.Stdio {
		return serveStdio(ctx, s, p)
	}
	return serveHTTP(ctx, s.err, p, cfg.Listen)
}

// announceEnd logs which signal ends the proxy when it arrives: what is under
// way may take a while to end. The function that it returns waits for the line.
func announceEnd(ctx context.Context, log *slog.Logger) (wait func()) {
	said := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(said)
		log.Info("petrigate ends", "cause", context.Cause(ctx).Error())
	})
	return func() {
		if !stop() {
			<-said
		}
	}
}

// outlivePipes keeps the program going where a client, or whoever reads the
// log, has closed its end: a write then fails, and what is under way is ended
// in order and on record. Ignoring the signal would do the same to the servers.
func outlivePipes() (stop func()) {
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGPIPE)
	return func() { signal.Stop(closed) }
}

// serveStdio ends without an error when the client does.
func serveStdio(ctx context.Context, s stdio, p *plant) error {
	in, out := s.in, s.out
	if f, ok := out.(*os.File); ok && f == os.Stdout {
		os.Stdout = os.Stderr // whatever prints must not reach the client
	}
	if isTerminal(in) {
		p.log.Warn("standard input is a terminal: an MCP client should start this program; petrigate demo shows what it does")
	}
	p.about.reachedAt("stdio")
	p.Start()
	widen(out)
	err := p.ServeStdio(ctx, in, out)
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// serveHTTP listens before anything is started, so that a port that is in use
// is found out first.
func serveHTTP(ctx context.Context, w io.Writer, p *plant, l config.Listen) error {
	listener, err := net.Listen("tcp", l.HTTP)
	if err != nil {
		return listenError(l.HTTP, err)
	}
	defer func() { _ = listener.Close() }()
	at := endpoint(l, listener)
	p.about.reachedAt(at)
	access, err := accessOf(w, l, listener, at)
	if err != nil {
		return err
	}
	handler, err := p.Handler(access)
	if err != nil {
		return &exit{exitInvalid, err}
	}
	server := newServer(handler, l)
	if err := secure(server, l.TLS, p.log); err != nil {
		return err
	}
	p.Start()
	failed := make(chan error, 1)
	go func() { failed <- listenAndServe(server, newSteady(listener, l, p.log)) }()
	p.log.Info("listening", "url", at)
	if host, _, _ := net.SplitHostPort(access.Addr); !isLoopback(host) && l.TLS == nil {
		p.log.Warn("tokens and calls cross the network as they are: set listen.tls, or put a server that speaks TLS in front")
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	p.Drain()
	return shutdown(server, p.Proxy.Close)
}

// accessOf says who may come in, and reads or makes their tokens.
func accessOf(w io.Writer, l config.Listen, listener net.Listener, endpoint string) (proxy.Access, error) {
	a := proxy.Access{
		Addr: accessAddr(l.HTTP, listener), TLS: l.TLS != nil, Path: l.Path, Hosts: l.AllowedHosts, Origins: l.AllowedOrigins,
		BodyTimeout: l.Timeouts.Body, IdleTTL: l.Idle, MaxSessions: l.MaxSessions, MaxAll: l.MaxSessionsTotal,
	}
	switch l.Auth {
	case "none":
		a.Open = true
	case "jwt":
		j := proxy.JWT(*l.JWT)
		a.JWT = &j
	default:
		t, err := loadTokens(w, l, endpoint)
		if err != nil {
			return a, err
		}
		a.Token, a.Tokens = t.unnamed, t.named
	}
	return a, nil
}

func listenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listening at %s: another program has this port; petrigate status shows whether it is a proxy", addr)
	}
	return fmt.Errorf("listening at %s: %w", addr, text.Innermost(err))
}

// endpoint is the URL by which clients of this machine reach the endpoint.
func endpoint(l config.Listen, listener net.Listener) string {
	scheme := "http"
	if l.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + shownAddr(listener) + cmp.Or(l.Path, "/mcp")
}

// accessAddr is the host that was asked for with the port that was given.
func accessAddr(asked string, l net.Listener) string {
	host, _, err := net.SplitHostPort(asked)
	if err != nil {
		return l.Addr().String()
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return asked
	}
	return net.JoinHostPort(host, port)
}
