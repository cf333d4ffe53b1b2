package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/approval"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A Recorder puts decisions and outcomes on record. Append stores one JSON
// object, given without a line end, before it returns. It must be safe for
// concurrent use. While it returns an error, calls are refused.
type Recorder interface {
	Append(record []byte) error
}

// A ToolFilter selects the tools of an upstream that clients may use.
type ToolFilter = toolname.Filter

// An Upstream is one MCP server behind the proxy: a Command that speaks
// stdio, or the URL of a streamable HTTP endpoint.
type Upstream struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	URL     string
	Headers map[string]string

	SSE bool // the URL is one of HTTP+SSE (2024-11-05); servers that know only that are found without it too

	TLS *tls.Config // how a server over https is known, and who we are to it; nil: as usual

	Credentials Credentials // over HTTP, beside the headers; nil: none

	Protocol string        // auto (also empty), legacy, or 2026-07-28
	Timeout  time.Duration // of one call; 0: 60 s
	Prefix   *string       // of the exposed names; nil: the upstream's name, or none where there is one upstream
	Tools    ToolFilter    // which of its tools there are

	Isolation string // whether sessions share it: auto (also empty), session, or shared
	Limits    Limits
}

// Limits bound what an upstream is used for at a time.
type Limits struct {
	InFlight    int // calls under way; 0: no bound
	MessageSize int // bytes of one message of it; 0: MaxResult of the Options
	Sessions    int // that have it for themselves; 0: 64 processes, or 1000 sessions over HTTP
}

// Approval says how people are asked. The zero value asks nobody: what needs
// an approval is refused.
type Approval struct {
	Elicit   bool          // ask through the client, where it can
	Operator bool          // hold the call for [Proxy.Resolve]
	Hold     time.Duration // how long a call waits before it is parked; 0: 45 s
	Expire   time.Duration // how long a question and its answer are good; 0: 15 min
	Cooldown time.Duration // how long a denial stands against the same call of the session; 0: 10 min
	Verb     string        // what the log tells operators to run who are to answer; empty: petrigate approvals
}

// Options configures a Proxy. The zero value is ready to use and fails
// closed: no upstreams, no approvals.
type Options struct {
	Upstreams []Upstream
	Policy    *gate.Policy // nil: no nets, every call passes
	Active    []string     // the nets that are active at the start; nil: all
	Root      string       // positions of rules below this folder are shown as seen from it
	Recorder  Recorder     // nil: nothing is put on record

	// Remedy finds the way out of a refusal, for the refusal to name it; nil: none
	// is named. It must not block and must be safe for concurrent use.
	// The state is its own.
	Remedy func(*gate.State, gate.Call, *gate.Refusal) Remedy

	// Advertise says which tools are listed: "all", also where it is empty; but those that are
	// Impossible ("possible"); or, for clients with a handshake, just those that no net would
	// block now ("enabled"). It allows nothing that a net blocks.
	Advertise string

	// Impossible names those of the tools that can never be called while these nets are
	// active, all if active is nil; nil: none are known to be. It is asked when the tools or the nets have changed.
	Impossible func(tools []gate.Call, active []string) []string

	Approval   Approval
	Startup    time.Duration // how long the first list waits for upstreams; 0: 10 s
	MaxRequest int           // bytes of one message of a client; 0: 4 MiB
	MaxResult  int           // bytes of one message of an upstream; 0: 64 MiB
	Logger     *slog.Logger  // nil: discard
	Version    string
	Now        func() time.Time // nil: time.Now
}

// A Proxy stands between MCP clients and MCP servers and lets a tool call
// pass when its gate does. It is safe for concurrent use.
type Proxy struct {
	*life
	sessions *sessions

	options      Options
	approval     Approval
	maxRequest   int                        // bytes of one message of a client
	startupLimit time.Duration              // how long a list waits for upstreams that start
	where        func(gate.Position) string // a position as people read it

	connect func(*upstreamState)      // makes the connection of an upstream
	ended   func(*upstreamState)      // is told of a dedicated connection that has ended
	changed func(method string)       // tells clients of a list that has changed
	busy    func(*upstreamState) bool // whether the server works at something that no request waits for

	upstreams       []*upstreamState
	catalogue       *catalogue
	approvals       *approval.Broker
	admission       *admission.Admission
	advisor         *advisor // nil: every client is shown the same tools
	sealer          *seal.Sealer
	watchdog        *upstream.Watchdog
	suspended       suspendedCalls
	tasks           *tasks
	prompts         table
	resources       resourceTables
	changes         announcements
	watched         byServer[watchedResources]
	levels          byServer[serverLevel]
	urlElicitations byServer[urlElicitations]
	server          *server.MCPServer
	started         time.Time

	several atomic.Bool // more than one principal may come over HTTP

	backlog backlog

	endStartup context.CancelFunc
	endStreams context.CancelFunc
	streaming  context.Context //nolint:containedctx // ends when streams without an end are to end
	startup    context.Context //nolint:containedctx // ends when lists no longer wait for upstreams
}

// New checks the options. Nothing runs before [Proxy.Start].
func New(o Options) (*Proxy, error) {
	o = o.withDefaults()
	if o.Policy == nil {
		empty, err := gate.NewPolicy(nil, gate.PolicyOptions{})
		if err != nil {
			return nil, err
		}
		o.Policy = empty
	}
	sealer, err := seal.New(o.Now)
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		life:     newLife(o.Now, o.Logger),
		options:  o,
		approval: o.Approval, maxRequest: o.MaxRequest, startupLimit: o.Startup, where: whereFrom(o.Root),
		approvals: approval.New(approval.Options{Expire: o.Approval.Expire, Cooldown: o.Approval.Cooldown, Channels: o.Approval.channels(), Now: o.Now}),
		sealer:    sealer,
		started:   o.Now(),
	}
	p.connect, p.changed, p.ended = p.attach, p.announce, p.forgetConnection
	p.busy = func(u *upstreamState) bool { return p.tasks.busy(u) }
	p.watchdog = &upstream.Watchdog{Logger: o.Logger}
	p.server = newHandshake(o.Version)
	p.admission = p.newAdmission()
	p.sessions = newSessions(p.beginSession, o.Now)
	if o.Advertise == "enabled" {
		p.advisor = newAdvisor(p)
	}
	p.startup, p.endStartup = context.WithCancel(p.ctx)
	p.streaming, p.endStreams = context.WithCancel(p.ctx)
	p.tasks = newTasks(taskOptions{
		life: p.life, now: o.Now, log: p.log,
		append:  func(e audit.Event) error { return p.admission.Append(p.ctx, e) },
		servers: func() []*upstreamState { return p.upstreams }, sessions: p.sessions, settle: p.settleTask, ask: p.passOn,
	})
	return p, p.addUpstreams()
}

func (o Options) withDefaults() Options {
	setDefault(&o.Approval.Hold, 45*time.Second)
	setDefault(&o.Approval.Expire, 15*time.Minute)
	setDefault(&o.Approval.Verb, "petrigate approvals")
	setDefault(&o.Approval.Cooldown, 10*time.Minute)
	setDefault(&o.Startup, 10*time.Second)
	setDefault(&o.MaxRequest, 4<<20)
	setDefault(&o.MaxResult, 64<<20)
	setDefault(&o.Logger, slog.New(slog.DiscardHandler))
	setDefault(&o.Version, "dev")
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func setDefault[T comparable](v *T, fallback T) {
	var zero T
	if *v == zero {
		*v = fallback
	}
}

// addUpstreams makes the connections, which are not started yet.
func (p *Proxy) addUpstreams() error {
	seen := map[string]bool{}
	for _, c := range p.options.Upstreams {
		switch {
		case c.Name == "":
			return errors.New("an upstream has no name")
		case seen[c.Name]:
			return fmt.Errorf("two upstreams are called %q", c.Name)
		case !knownIsolation(c.Isolation):
			return fmt.Errorf("upstream %q: unknown isolation %q", c.Name, c.Isolation)
		case (c.Command == "") == (c.URL == ""):
			return fmt.Errorf("upstream %q wants a command or a url, and not both", c.Name)
		}
		seen[c.Name] = true
		setDefault(&c.Timeout, time.Minute)
		p.upstreams = append(p.upstreams, newUpstreamState(c, len(p.options.Upstreams) > 1))
	}
	p.catalogue = newCatalogue(p.upstreams, p.log)
	if p.options.Advertise == "possible" && p.options.Impossible != nil {
		p.catalogue.impossible = func(tools []gate.Call) []string {
			g := p.admission.Generation()
			return g.Impossible(tools, g.Active)
		}
	}
	for _, u := range p.upstreams {
		p.connect(u)
	}
	return nil
}

// attach makes the connection of u.
func (p *Proxy) attach(u *upstreamState) {
	u.Upstream = upstream.New(p.connection(u.config), upstream.Options{
		Logger:         p.log,
		Version:        p.options.Version,
		Watchdog:       p.watchdog,
		OnNotification: func(method string, params []byte) { p.heard(u, method, params) },
		OnState:        func() { p.stateChanged(u) },
		OnListen:       func() { p.listening(u) },
		OnRequest:      func(q *upstream.ServerRequest) { p.inquired(u, q) },
		Busy:           func() bool { return p.busy(u) },
		OnBurst:        p.bursts(),
	})
}

func (p *Proxy) connection(c Upstream) upstream.Config {
	transport := ""
	if c.SSE {
		transport = upstream.TransportSSE
	}
	return upstream.Config{
		Name: c.Name, Command: c.Command, Args: c.Args, Env: c.Env, Dir: c.Dir,
		URL: c.URL, Headers: c.Headers, Credentials: c.Credentials, TLS: c.TLS, Transport: transport, Protocol: c.Protocol, Timeout: c.Timeout,
		MaxMessage: cmp.Or(c.Limits.MessageSize, p.options.MaxResult),
	}
}

// Start connects to the upstreams, all at once and in the background.
func (p *Proxy) Start() {
	p.background(func() {
		timer := time.NewTimer(p.options.Startup)
		defer timer.Stop()
		select {
		case <-timer.C:
			p.warnOfSlowStarts()
		case <-p.ctx.Done():
		}
		p.endStartup()
	})
	if p.advisor != nil {
		p.background(p.advisor.run)
	}
	for _, u := range p.upstreams {
		p.background(func() { p.sweep(u) })
		u.Start(p.ctx)
	}
}

// warnOfSlowStarts says which upstreams lists of tools do not wait for any longer.
func (p *Proxy) warnOfSlowStarts() {
	for _, u := range p.upstreams {
		if u.State().Phase == upstream.Starting {
			p.log.Warn("upstream has not answered yet: its tools are listed once it has", "upstream", u.config.Name, "waited", p.options.Startup)
		}
	}
}

// Drain ends the streams that clients hold open for news, so that a server
// that is to stop waits for calls alone.
func (p *Proxy) Drain() { p.endStreams() }

// Close ends the upstreams and everything that the proxy runs.
func (p *Proxy) Close() error {
	p.end()
	var all []error
	for _, u := range p.connections() {
		all = append(all, u.Close())
	}
	p.work.Wait()
	return errors.Join(append(all, p.watchdog.Close())...)
}

// randomID is an identifier that nobody can guess.
func randomID(prefix string) string {
	var b [16]byte
	if _, err := io.ReadFull(rand.Reader, b[:]); err != nil {
		panic(err) // the system has no randomness: nothing is safe
	}
	return prefix + hex.EncodeToString(b[:])
}
