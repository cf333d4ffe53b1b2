package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/pin"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/hook"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/front"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/router"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// New returns a proxy, or an error if the options are invalid. Nothing runs before [Proxy.Start].
func New(o Options) (*Proxy, error) {
	o = o.withDefaults()
	if o.Policy == nil {
		empty, err := gate.NewPolicy(nil, gate.PolicyOptions{})
		if err != nil {
			return nil, err
		}
		o.Policy = empty
	}
	redactor, err := audit.NewRedactor(o.Record.Arguments, o.Record.Mask)
	if err != nil {
		return nil, err
	}
	of := &parts{options: o, life: lifetime.New(o.Now, o.Logger), started: o.Now(), watchdog: &upstream.Watchdog{Logger: o.Logger}, where: o.formatPosition}
	p := &Proxy{parts: of, approvalControl: approvalControl{of}, sessionView: sessionView{of}}
	if err := p.wire(redactor); err != nil {
		return nil, err
	}
	return p, p.addUpstreams()
}

// wire creates the components of the proxy and connects them. A component gets direct references to
// the components created before it, and functions that access those created later.
func (p *Proxy) wire(redactor *audit.Redactor) error {
	o := p.options
	p.startup, p.endStartup = context.WithCancel(p.life.Ctx)
	streaming, endStreams := context.WithCancel(p.life.Ctx)
	p.endStreams = endStreams

	if err := p.makeAdmission(redactor); err != nil {
		return err
	}
	p.sessions = session.New(session.Options{Way: o.Session, Shared: p.sharesState()}, func(s *session.Session) error { return p.router.BeginSession(s) }, o.Now)
	p.pool = pool.New(pool.Options{
		Life: p.life, Sessions: p.sessions, Admission: p.admission, Startup: p.startup, StartupLimit: o.Startup,
		Connect: p.attach,
		Ended: func(u *pool.Server) {
			p.relay.Watched.Forget(u)
			p.relay.Levels.Forget(u)
			p.reverse.URLElicitations.Forget(u)
		},
		Changed: func(method string) { p.relay.Announce(method) },
		Busy:    func(u *pool.Server) bool { return p.tasks.Busy(u) },
	})
	p.tasks = tasks.New(tasks.Options{
		Life: p.life, Sessions: p.sessions,
		Append:  func(e audit.Event) error { return p.admission.Append(p.life.Ctx, e) },
		Servers: func() []*pool.Server { return p.pool.Servers },
		Settle: func(of tasks.Origin, ticket *admission.Ticket, outcome gate.Outcome, result []byte, by string) {
			p.pipeline.SettleTask(of, ticket, outcome, result, by)
		},
		Ask: func(c *session.Client, s spec.Stream, u *pool.Server, q *upstream.ServerRequest) {
			p.reverse.PassOn(c, s, u, q)
		},
	})
	p.reverse = &reverse.Reverse{Life: p.life, Sessions: p.sessions, Tasks: p.tasks}
	if o.Advertise == "enabled" {
		p.advertiser = advertise.New(&advertise.Options{Life: p.life, Sessions: p.sessions, Admission: p.admission, Pool: p.pool})
	}
	p.relay = &relay.Relay{
		Life: p.life, Streaming: streaming, Sessions: p.sessions, Admission: p.admission, Pool: p.pool,
		Advertiser: p.advertiser, Tasks: p.tasks,
	}
	ask := o.Approval.pipelineApproval(p.approvalInfo)
	p.Hooks = hookGate(p, ask)
	p.pipeline = pipeline.New(pipeline.Options{
		Life: p.life, Sessions: p.sessions, Admission: p.admission, Approval: ask, Approvals: p.approvals, Sealer: p.sealer(), Rounds: p.rounds,
		Pool: p.pool, Advertiser: p.advertiser, Tasks: p.tasks, Reverse: p.reverse, Relay: p.relay,
		MaxRequest: o.MaxRequest, StartupLimit: o.Startup, Where: p.where, Came: p.Hooks.Arrived,
	})
	p.router = &router.Router{
		Life: p.life, Sessions: p.sessions, Admission: p.admission, Pool: p.pool, Advertiser: p.advertiser,
		Tasks: p.tasks, Reverse: p.reverse, Relay: p.relay, Pipeline: p.pipeline, Server: router.NewHandshake(o.Version),
	}
	p.front = &front.Front{
		Life: p.life, Streaming: streaming, Sessions: p.sessions, Pool: p.pool, Pipeline: p.pipeline, Router: p.router, MaxRequest: o.MaxRequest,
		Asked: p.approvals.Sessions, Hook: p.serveHook,
	}
	return nil
}

// makeAdmission creates the approval broker, the ledger of session states, and the component that
// admits calls. If states are stored in a database, it also creates the store for calls that wait
// for a client's input.
func (p *Proxy) makeAdmission(redactor *audit.Redactor) error {
	o := p.options
	mask, err := audit.NewRedactor(audit.Full, o.Approval.Mask)
	if err != nil {
		return err
	}
	asking := approval.Options{Mask: mask.Shown, Expire: o.Approval.Expire, Cooldown: o.Approval.Cooldown, Channels: o.Approval.Channels, Grants: o.Approval.Grants, Now: o.Now, Log: o.Logger}
	asking.Self, asking.People = o.Approval.Self, o.Approval.People
	if o.Approval.PIN != "" {
		if p.pin, err = pin.Parse(o.Approval.PIN, o.Now); err != nil {
			return fmt.Errorf("the approval PIN: %w", err)
		}
	}
	if o.Database != nil {
		asking.Store = o.Database
	}
	if o.Meter != nil {
		asking.Answered = o.Meter.Answered
	}
	asking.Granted = p.granted
	p.approvals = approval.New(asking)
	ledger, kill := p.makeLedger()
	p.admission = admission.New(admission.Options{
		Ledger: ledger, Generation: o.replacement().generation(), Where: p.where, Logger: o.Logger, Now: o.Now, Switch: kill,
		Redactor: redactor, Process: o.Record.Process, Observer: o.Observer, Meter: o.Meter,
		Ended: func(session string) { p.approvals.EndSession(session); p.endGrants(session) },
	})
	if p.durable != nil {
		p.rounds = rounds.New(p.durable, p.admission, p.life)
	}
	return nil
}

// replacement returns those options that can be replaced while the proxy runs: the policy, and the
// settings that depend on it.
func (o Options) replacement() Replacement {
	return Replacement{
		Policy: o.Policy, Active: o.Active, Advertise: o.Advertise, Remedy: o.Remedy, Impossible: o.Impossible,
		Pipefail: o.Pipefail, Files: o.Record.Files,
	}
}

// formatPosition formats a policy position for clients and operators, relative to the folder Root.
// If the file is not in Root, only its base name is shown, so that the rest of the path stays
// private.
func (o Options) formatPosition(at gate.Position) string {
	if filepath.IsAbs(at.File) {
		rel, err := filepath.Rel(o.Root, at.File)
		if err != nil || !filepath.IsLocal(rel) {
			rel = filepath.Base(at.File)
		}
		at.File = rel
	}
	return at.String()
}

func (o Options) withDefaults() Options {
	o.Approval.Hold = cmp.Or(o.Approval.Hold, 45*time.Second)
	o.Approval.Expire = cmp.Or(o.Approval.Expire, 15*time.Minute)
	o.Approval.Verb = cmp.Or(o.Approval.Verb, "petrigate approvals")
	o.Approval.Cooldown = cmp.Or(o.Approval.Cooldown, 10*time.Minute)
	o.Startup = cmp.Or(o.Startup, 10*time.Second)
	o.MaxRequest = cmp.Or(o.MaxRequest, 4<<20)
	o.MaxResult = cmp.Or(o.MaxResult, 64<<20)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Version = cmp.Or(o.Version, "dev")
	o.Record.Process = cmp.Or(o.Record.Process, rand.Text()[:12])
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// addUpstreams creates the connections to the upstreams, but does not start them.
func (p *Proxy) addUpstreams() error {
	seen := map[string]bool{}
	for _, c := range p.options.Upstreams {
		switch {
		case c.Name == "":
			return errors.New("an upstream has no name")
		case seen[c.Name]:
			return fmt.Errorf("two upstreams have the name %q", c.Name)
		case !pool.KnownIsolation(c.Isolation):
			return fmt.Errorf("upstream %q: unknown isolation %q", c.Name, c.Isolation)
		case (c.Command == "") == (c.URL == ""):
			return fmt.Errorf("upstream %q needs either a command or a url", c.Name)
		}
		seen[c.Name] = true
		c.Timeout = cmp.Or(c.Timeout, time.Minute)
		p.pool.Servers = append(p.pool.Servers, pool.NewServer(c, len(p.options.Upstreams) > 1))
	}
	p.pool.Catalogue = pool.NewCatalogue(p.pool.Servers, p.life.Log)
	p.pool.Catalogue.Impossible = func(tools []gate.Call) []string {
		g := p.admission.Generation()
		if g.Advertise != "possible" || g.Impossible == nil {
			return nil
		}
		return g.Impossible(tools, g.Active)
	}
	p.options.Pins.attach(p)
	for _, u := range p.pool.Servers {
		p.pool.Connect(u)
	}
	return nil
}

// attach creates the connection to upstream u.
func (p *Proxy) attach(u *pool.Server) {
	u.Upstream = upstream.New(p.connection(u.Config), upstream.Options{
		Logger:         p.life.Log,
		Version:        p.options.Version,
		Watchdog:       p.watchdog,
		OnNotification: func(method string, params []byte) { p.router.ServerNotification(u, method, params) },
		OnState:        func() { p.router.ServerStateChanged(u) },
		OnListen:       func() { p.router.ServerListening(u) },
		OnRequest:      func(q *upstream.ServerRequest) { p.router.ServerRequest(u, q) },
		Busy:           func() bool { return p.pool.Busy(u) },
		Burst:          p.router.Batch(u),
	})
}

func (p *Proxy) connection(c pool.Upstream) upstream.Config {
	return upstream.Config{
		Name: c.Name, Command: c.Command, Args: c.Args, Env: c.Env, Dir: c.Dir,
		URL: c.URL, Headers: c.Headers, Credentials: c.Credentials, TLS: c.TLS, SSE: c.SSE, Protocol: c.Protocol,
		MaxMessage: cmp.Or(c.Limits.MessageSize, p.options.MaxResult),
	}
}

// A HookEvent is an agent's report of a call that does not pass through the proxy.
type HookEvent = hook.Request

// A HookReply is the reply to a [HookEvent].
type HookReply = hook.Reply

// hookGate returns the gate that decides on calls reported by agents' hooks.
func hookGate(p *Proxy, ask pipeline.Approval) *hook.Gate {
	return hook.New(hook.Options{
		Ctx: p.life.Ctx, Admission: p.admission, Approvals: p.approvals, Now: p.options.Now, Log: p.life.Log,
		Session: func(o hook.Origin) (admission.Key, bool, error) {
			s, err := p.sessions.OfAgent(o.Principal, o.Agent+" "+o.Session, o.Header)
			if err != nil {
				return admission.Key{}, false, err
			}
			return s.Key(), s.OfAgent(), nil
		},
		End: func(k admission.Key) {
			if p.sessions.EndAgent(k.Session) {
				p.router.EndState(k)
			}
		},
		Moved: func(k admission.Key) {
			if s, err := p.sessions.Find(k.Session); err == nil {
				p.advertiser.Touch(s)
			}
		},
		Met: func(agent string, names []string) {
			p.pool.Catalogue.RegisterAgentTools(pool.AgentTools{Agent: agent, Names: names})
		},
		Tools: func() []gate.Call { return p.pool.Catalogue.Load().Calls },
		Hold:  ask.Hold,
		Asked: func(r *approval.Request, agent string) { p.pipeline.TellOperators(r, agent) },
		Texts: hook.Texts{Parked: asking.ParkedText, NoConsent: asking.NoConsentText},
	})
}

// serveHook serves a hook event received over HTTP.
func (p *Proxy) serveHook(ctx context.Context, principal, agent string, r *http.Request, event []byte) ([]byte, error) {
	reply, err := p.Hooks.Serve(ctx, hook.Request{
		Agent: agent, Principal: principal, Servers: r.URL.Query()["server"], Header: r.Header, Event: event,
	})
	return reply.Output, err
}
