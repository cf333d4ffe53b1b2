package proxy

import (
	"net/http"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/front"
	"github.com/petrigate/petrigate/proxy/internal/httpguard"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A Recorder records decisions and outcomes. Append receives one JSON object without a line end,
// and stores it before it returns. It must be safe for concurrent use. While it returns an error,
// calls are refused.
type Recorder interface {
	Append(record []byte) error
}

// Record configures the content of records. The zero value is ready to use.
type Record struct {
	Arguments string   // how the arguments of a call are recorded: hash, masked or full; empty means hash
	Mask      []string // members to mask: names, which match at any depth, and paths that begin with "$."; case does not matter
	Process   string   // name of this process in the records; empty means a random name
	Files     []File   // files of the policy
}

// A File is a file that the policy was read from.
type File struct{ Name, SHA256 string }

// A Remedy describes how a refused call can become allowed. The zero value means that no remedy is
// known.
type Remedy = admission.Remedy

// An Observer follows the stages of calls in order to create traces.
type Observer = admission.Observer

// A Meter counts calls and people's answers. Its methods are called during each call and must be
// fast.
type Meter interface {
	admission.Meter

	// Answered counts an approval request that was answered or has expired. Its arguments are the
	// request's state, the channel of the answer, and how long the request was pending.
	Answered(state, channel string, waited time.Duration)
}

// An Upstream configures one MCP server behind the proxy: a Command that communicates over stdio,
// or the URL of a streamable HTTP endpoint.
type Upstream = pool.Upstream

// A SessionWay configures how the session of a call is determined. With the zero value, a call
// belongs to the session of its connection.
type SessionWay = session.Way

// Limits limits how many calls, sessions and bytes an upstream may use at the same time.
type Limits = pool.Limits

// A ToolFilter selects the tools of an upstream that clients can use.
type ToolFilter = toolname.Filter

// Credentials authorize HTTP requests to an upstream if the authorization can change over time.
type Credentials = upstream.Credentials

// Values of Upstream.Isolation: how sessions share an upstream.
const (
	IsolateAuto    = pool.IsolateAuto    // shared until the upstream sends a request to a client
	IsolateSession = pool.IsolateSession // one connection for each session
	IsolateShared  = pool.IsolateShared  // one connection for all sessions
)

// Approval configures how people are asked. With the zero value, no person is asked, and calls that
// need approval are refused.
type Approval struct {
	Channels []string      // channels for answers, all open at the same time: elicit, url, web, cli, webhook
	Mask     []string      // members whose values people do not see: names, which match at any depth, and paths that begin with "$."
	Hold     time.Duration // how long a call waits before it is parked; 0 means 45 seconds

	// HoldFor returns the value of Hold for the client with the given name; nil: Hold applies to
	// all clients.
	HoldFor func(client string) time.Duration

	Expire   time.Duration // lifetime of a question and of its answer; 0 means 15 minutes
	Cooldown time.Duration // how long a denial applies to the same call in the session; 0 means 10 minutes
	Grants   time.Duration // maximum lifetime of a grant; 0 means that grants cannot be created
	Self     bool          // whether callers can approve their own calls
	PIN      string        // hash of the PIN for approvals by cli, web or url, as printed by petrigate approvals pin; empty means no PIN
	Verb     string        // command that the log tells operators to run in order to answer; empty means petrigate approvals

	// People maps the names of persons to principals. The name of a person is the actor, or the
	// person that a channel has authenticated. The principal that made a call cannot approve the
	// call unless Self is set.
	People map[string]string

	// Page returns the URL of an approval's page, for the url channel. nil, or an empty result:
	// no page. The URL must not contain credentials, because it passes through the client. The page
	// must authenticate its visitor. Page must not block and must be safe for concurrent use.
	Page func(id string) string

	// Asked is called with each approval when the first call begins to wait for it, and Answered is
	// called with each answer that counts; nil: not called. Both must not block and must be safe
	// for concurrent use.
	Asked, Answered func(operator.ApprovalInfo)
}

// ask returns the settings in the form that the pipeline needs. It calls info to convert the
// records that Asked and Answered receive.
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

// Access configures who can use the HTTP endpoint. The zero value is invalid: one of Token, Tokens
// and JWT is required, or Open on a loopback address.
type Access = front.Access

// JWT makes the endpoint an OAuth 2.1 resource server. The principal of a token consists of its
// issuer and its subject.
type JWT = front.JWT

// Local reports whether a request to localhost comes from a program on this machine.
func Local(r *http.Request) bool { return httpguard.Local(r) }

// A Database stores session states and stops outside of the process.
type Database = backend.Backend

// Types of the parameters and results of the methods for operators. They are declared in
// internal/operator, so that the console and the control socket do not depend on this package;
// programs that embed a proxy use these names.
type (
	ApprovalInfo   = operator.ApprovalInfo
	ApprovalStep   = operator.ApprovalStep
	Difference     = operator.Difference
	Rejection      = operator.Rejection
	ApprovalState  = operator.ApprovalState
	Answer         = operator.Answer
	Grant          = operator.Grant
	GrantInfo      = operator.GrantInfo
	GrantPin       = operator.GrantPin
	Status         = operator.Status
	UpstreamStatus = operator.UpstreamStatus
	BaseInfo       = operator.BaseInfo
	WebhookInfo    = operator.WebhookInfo
	AuditInfo      = operator.AuditInfo
	StateInfo      = operator.StateInfo
	UnknownCall    = operator.UnknownCall
	SessionInfo    = operator.SessionInfo
	NetInfo        = operator.NetInfo
	CallInfo       = operator.CallInfo
	PolicyNet      = operator.PolicyNet
	NetFate        = operator.NetFate
	ShadowInfo     = operator.ShadowInfo
	WouldInfo      = operator.WouldInfo
	ShadowNet      = operator.ShadowNet
	NetShadow      = operator.NetShadow
	StopInfo       = operator.StopInfo
	Stopping       = operator.Stopping
	ToolInfo       = operator.ToolInfo
	ToolVerdict    = operator.ToolVerdict
	ToolChange     = operator.ToolChange
	Actor          = operator.Actor
)

// The states of an approval. All except Pending and Approved are final.
const (
	Pending   = operator.Pending
	Approved  = operator.Approved
	Denied    = operator.Denied
	Expired   = operator.Expired
	Withdrawn = operator.Withdrawn
	Consumed  = operator.Consumed
)

// ChannelCLI is the channel of an operator at a terminal.
const ChannelCLI = operator.ChannelCLI
