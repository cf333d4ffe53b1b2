package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/front"
	"github.com/petrigate/petrigate/proxy/internal/httpguard"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Offered are the tools that clients can call at one time. They never change.
type Offered struct{ view *pool.ToolView }

// Offered returns the tools that clients can call now.
func (p *Proxy) Offered() Offered { return Offered{p.pool.Catalogue.Load()} }

// Names are the tools, each as a call without arguments that carries all its names, in the
// order of the list.
func (o Offered) Names() []gate.Call { return slices.Clone(o.view.Calls) }

// Definition returns a hash of what the server says of a tool, by its exposed name; empty:
// there is no such tool.
func (o Offered) Definition(tool string) string {
	if t := o.view.Tool(tool); t != nil {
		return t.Definition
	}
	return ""
}

// Schema returns that of the arguments of a tool; nil: its server gives none.
func (o Offered) Schema(tool string) json.RawMessage {
	t := o.view.Tool(tool)
	if t == nil {
		return nil
	}
	schema, _ := rawjson.Member(t.Object, "inputSchema")
	return schema
}

// A Recorder puts decisions and outcomes on record. Append stores one JSON
// object, given without a line end, before it returns. It must be safe for
// concurrent use. While it returns an error, calls are refused.
type Recorder interface {
	Append(record []byte) error
}

// Record says what records have. The zero value is ready to use.
type Record struct {
	Arguments string   // of calls: hash, masked or full; empty: hash
	Mask      []string // names of members, at any depth, and paths that begin with "$."; their letter case does not matter
	Process   string   // names this process; empty: at random
	Files     []File   // that the policy was read from
}

// A File is one that a policy was read from.
type File struct{ Name, SHA256 string }

// Begin puts on record that this process begins to work, with a driver of the states such
// as memory, and what its policy is. Call it before [Proxy.Start].
func (p *Proxy) Begin(driver string) {
	p.admission.Begin(p.life.Ctx, audit.Process{Version: p.options.Version, Driver: driver})
}

// Finish puts on record that this process has ended its work, after [Proxy.Close].
func (p *Proxy) Finish() { p.admission.Finish(context.WithoutCancel(p.life.Ctx)) }

// A Remedy is how a refused call becomes allowed. The zero value says that
// nothing is known of it.
type Remedy = admission.Remedy

// An Observer is told of the stations of calls, for traces.
type Observer = admission.Observer

// A Meter counts calls and answers of people. Its methods are in the way of each call.
type Meter interface {
	admission.Meter

	// Answered counts a request for approval that waits no more: the state that it is in,
	// the channel of the answer, and how long it has waited.
	Answered(state, channel string, waited time.Duration)
}

// An Upstream is one MCP server behind the proxy: a Command that speaks
// stdio, or the URL of a streamable HTTP endpoint.
type Upstream = pool.Upstream

// A SessionWay says which session a call is in. The zero value says: that of its
// connection.
type SessionWay = session.Way

// Limits bound what an upstream is used for at a time.
type Limits = pool.Limits

// A ToolFilter selects the tools of an upstream that clients may use.
type ToolFilter = toolname.Filter

// Credentials say in whose name requests to an upstream over HTTP are made,
// where that changes with time.
type Credentials = upstream.Credentials

// The ways to share an upstream; see [Upstream].
const (
	IsolateAuto    = pool.IsolateAuto    // shared until it asks something of a client
	IsolateSession = pool.IsolateSession // each session has a connection of its own
	IsolateShared  = pool.IsolateShared  // all sessions share one connection
)

// Approval says how people are asked. The zero value asks nobody: what needs
// an approval is refused.
type Approval struct {
	Channels []string      // by which people may answer, all at once: elicit, url, web, cli, webhook
	Mask     []string      // names of members, at any depth, and paths that begin with "$.", whose values people do not see
	Hold     time.Duration // how long a call waits before it is parked; 0: 45 s

	// HoldFor is Hold for a client, by the name that it gives; nil: Hold is for all.
	HoldFor func(client string) time.Duration

	Expire   time.Duration // how long a question and its answer are good; 0: 15 min
	Cooldown time.Duration // how long a denial stands against the same call of the session; 0: 10 min
	Grants   time.Duration // how long a grant is valid at most; 0: nobody can give one
	Self     bool          // who calls may approve their own call
	PIN      string        // hash of what a person types with an approval by cli, web or url, see petrigate approvals pin; empty: nothing
	Verb     string        // what the log tells operators to run who are to answer; empty: petrigate approvals

	// People are principals, by the names of the persons who they are: an actor, or the person
	// that a channel proves. Who is the principal of a call cannot approve it, see Self.
	People map[string]string

	// Page returns the URL of the page of an approval, for the channel url; nil, or empty:
	// there is none. The URL must carry no authority: it goes through the client, so that the
	// page has to find out who comes. It must not block, and must be safe for concurrent use.
	Page func(id string) string

	// Asked is told of each approval when the first call begins to wait for it, and Answered
	// of each answer that counts; nil: nobody is. Both must not block, and must be safe for
	// concurrent use.
	Asked, Answered func(operator.ApprovalInfo)
}

// ask is a as the pipeline knows it; info describes a record to who is told of it.
func (a Approval) ask(info func(approval.Record) operator.ApprovalInfo) pipeline.Approval {
	tell := func(f func(operator.ApprovalInfo)) func(approval.Record) {
		if f == nil {
			return nil
		}
		return func(r approval.Record) { f(info(r)) }
	}
	hold, page := a.HoldFor, a.Page
	if hold == nil {
		hold = func(string) time.Duration { return a.Hold }
	}
	if page == nil {
		page = func(string) string { return "" }
	}
	return pipeline.Approval{Hold: hold, Expire: a.Expire, Verb: a.Verb, Page: page, Asked: tell(a.Asked), Answered: tell(a.Answered)}
}

// Access says who may speak to the HTTP endpoint. The zero value lets nobody
// in: it requires one of Token, Tokens and JWT, or Open on a loopback address.
type Access = front.Access

// JWT makes the endpoint an OAuth 2.1 resource server. The principal of a
// token is its issuer and its subject.
type JWT = front.JWT

// Local reports whether a request asks for localhost, from a program of this machine.
func Local(r *http.Request) bool { return httpguard.Local(r) }
