package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/oauth"
	"github.com/petrigate/petrigate/proxy"
)

// newLogger writes for people on a terminal and for machines elsewhere, and
// for nobody the secrets.
func newLogger(w io.Writer, c config.Log, secrets ...string) *slog.Logger {
	level := map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[c.Level]
	text := c.Format == "text" || c.Format != "json" && isTerminal(w)
	if !text {
		return slog.New(redacted(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}), secrets))
	}
	return slog.New(redacted(tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !isTerminal(w) || os.Getenv("NO_COLOR") != "",
	}), secrets))
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A plant is a proxy with what it was built from. Close it.
type plant struct {
	*proxy.Proxy
	about  *about
	log    *slog.Logger
	audit  *audit.Log
	review *review // nil: none
	tokens []*oauth.Source
}

// Start starts the proxy, and the review of its policy.
func (p *plant) Start() {
	p.Proxy.Start()
	if p.review != nil {
		p.review.start(p)
	}
}

// Close ends the proxy and then its records.
func (p *plant) Close() error {
	if p.review != nil {
		p.review.Close()
	}
	err := p.Proxy.Close()
	for _, t := range p.tokens {
		t.Close()
	}
	if p.audit != nil {
		err = errors.Join(err, p.audit.Close())
	}
	return err
}

// build makes the proxy of a configuration whose policy is built. It starts
// nothing.
func build(c *config.Config, result *policy.Result, log *slog.Logger) (*plant, error) {
	p := &plant{about: aboutOf(c), log: log}
	upstreams, err := p.upstreams(c)
	if err != nil {
		return nil, err
	}
	o := proxy.Options{
		Upstreams: upstreams, Policy: result.Policy, Active: result.Active, Root: root(c.File), Startup: c.Startup, Advertise: c.Advertise, Logger: log, Version: versionString(), MaxRequest: c.Listen.MaxBody,
		Approval: proxy.Approval{
			Elicit: slices.Contains(c.Approval.Channels, "elicit"), Operator: slices.Contains(c.Approval.Channels, "cli"),
			Hold: c.Approval.Hold, Expire: c.Approval.Expire, Cooldown: c.Approval.Cooldown,
		},
	}
	if c.Audit.File != "" {
		log, err := audit.Open(c.Audit.File, audit.Options{})
		if err != nil {
			return nil, auditError(c.Audit.File, err)
		}
		p.audit, o.Recorder = log, log
	}
	if result.Policy != nil && result.Policy.Shadow() {
		log.Warn("the policy is in shadow: every call passes, and what would have been refused is recorded")
	}
	if result.Policy != nil {
		way := newWayfinder(result, func() []gate.Call { return p.Names() })
		o.Remedy, o.Impossible = way.remedy, impossible(result)
	}
	if p.Proxy, err = proxy.New(o); err != nil && p.audit != nil {
		_ = p.audit.Close()
	}
	return p, err
}

// root is the folder of the configuration or, where there is none, that in which
// the program was started.
func root(file string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	return dir
}

// auditError names the file, where the error of the audit log does not.
func auditError(file string, err error) error {
	var about *fs.PathError
	if errors.As(err, &about) && about.Path == file {
		err = about.Err
	} else if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return fmt.Errorf("opening the audit log %s: %w", file, err)
}

// upstreams are the servers of a configuration, with their tokens.
func (p *plant) upstreams(c *config.Config) ([]proxy.Upstream, error) {
	var list []proxy.Upstream
	for _, s := range c.Servers {
		if s.Disabled {
			continue
		}
		u := proxy.Upstream{
			Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd,
			URL: s.URL, SSE: s.Type == "sse", Headers: s.Headers, Protocol: s.Protocol, Timeout: s.Timeout,
			Limits:    proxy.Limits{InFlight: s.Limits.InFlight, MessageSize: s.Limits.MessageSize, Sessions: s.Limits.Sessions},
			Isolation: s.Isolation, Tools: proxy.ToolFilter{Allow: s.Tools.Allow, Deny: s.Tools.Deny},
		}
		if s.HasPrefix {
			u.Prefix = &s.Prefix
		}
		secure, err := upstreamTLS(s)
		if err != nil {
			return nil, err
		}
		u.TLS = secure
		tokens, err := sourceOf(c, s, p.log)
		if err != nil {
			return nil, err
		}
		if tokens != nil {
			u.Credentials, p.tokens = tokens, append(p.tokens, tokens)
		}
		list = append(list, u)
	}
	return list, nil
}

// policyOf builds the policy of a configuration and says what is doubtful. A
// policy of which a claim is refuted is none. The review is to be made when the
// tools are known.
func policyOf(ctx context.Context, w io.Writer, c *config.Config) (*policy.Result, *review, error) {
	source := policy.FromConfig(c)
	result, err := policy.Build(source)
	if err != nil {
		return nil, nil, err
	}
	v, err := check.Run(ctx, result, source, check.LikelyTools(c, result), check.AtStart(len(result.Claims)))
	if err != nil {
		return nil, nil, err
	}
	found := v.Problems()
	if refuted := found.Of(policy.Error); len(refuted) > 0 {
		return nil, nil, refuted
	}
	all := slices.Concat(check.ConfigWarnings(c), result.Problems.Of(policy.Warning), check.NoPolicy(c.File, source), check.NoUpstream(c), found)
	printProblems(w, all)
	return result, newReview(c, all), nil
}

// runtimeDir is where control sockets are.
func runtimeDir() string {
	if dir := os.Getenv("PETRIGATE_RUNTIME_DIR"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "petrigate")
	}
	return filepath.Join(os.TempDir(), "petrigate-"+strconv.Itoa(os.Getuid()))
}

// stateDir is where what outlives a process is kept.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "petrigate"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("looking for a place for state: %w; set XDG_STATE_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "petrigate"), nil
}
