package proxy

import (
	"context"
	"net/http"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/hook"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
)

// A HookEvent is an agent's report of a call that it makes without the proxy.
type HookEvent = hook.Request

// A HookReply is the answer to the agent.
type HookReply = hook.Reply

// hookGate returns the gate for calls that agents report through their hooks.
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
		Texts: hook.Texts{Parked: asking.Parked, NoConsent: asking.NoConsent},
	})
}

// serveHook serves a hook event that has arrived over HTTP.
func (p *Proxy) serveHook(ctx context.Context, principal, agent string, r *http.Request, event []byte) ([]byte, error) {
	reply, err := p.Hooks.Serve(ctx, hook.Request{
		Agent: agent, Principal: principal, Servers: r.URL.Query()["server"], Header: r.Header, Event: event,
	})
	return reply.Output, err
}
