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

// A Recorder records decisions and outcomes. Append must store the record before it returns. The
// record is one JSON object without a newline. Append must be safe for concurrent use. While Append
// returns errors, calls are refused.
type Recorder interface {
	Append(record []byte) error
}

// Record configures the content of records. The zero value is ready to use.
type Record struct {
	Arguments string   // how the arguments of a call are recorded: hash, masked or full; empty means hash
	Mask      []string // members to mask: names, which are matched at any depth and without regard to case, or paths that begin with "$."
	Process   string   // name of this process in the records; empty means a random name
	Files     []File   // files that define the policy
}

// A File identifies a policy file by its name and its hash.
type File struct{ Name, SHA256 string }

// A Remedy describes what would allow a refused call. The zero value means that no remedy is known.
type Remedy = admission.Remedy

// An Observer follows calls from stage to stage to create traces.
type Observer = admission.Observer

// A Meter counts calls and people's answers. Its methods are called during each call and must be
// fast.
type Meter interface {
	admission.Meter

	// Answered counts an approval request that has been approved, denied or withdrawn, or has
	// expired. It receives the new state of the request, the channel of the answer, and how long
	// the request was pending. Only the process that opened a request counts it.
	Answered(state, channel string, waited time.Duration)
}

// An Upstream configures one MCP server behind the proxy: a Command that communicates over stdio,
// or the URL of a streamable HTTP endpoint.
type Upstream = pool.Upstream

// A SessionWay selects the session that a call belongs to. The zero value selects the session of
// the call's connection.
type SessionWay = session.Way

// Limits holds the maximum numbers of in-flight calls and dedicated connections of an upstream, and
// the maximum size of its messages.
type Limits = pool.Limits

// A ToolFilter selects which tools of an upstream clients can use.
type ToolFilter = toolname.Filter

// Credentials authorize HTTP requests to an upstream. Unlike fixed headers, they can be renewed
// while the proxy runs.
type Credentials = upstream.Credentials

// Values of Upstream.Isolation. They determine whether sessions share a connection.
const (
	IsolateAuto    = pool.IsolateAuto    // one connection for all sessions until the upstream sends a request to a client; afterwards, other sessions may get connections of their own
	IsolateSession = pool.IsolateSession // one connection per session
	IsolateShared  = pool.IsolateShared  // one connection for all sessions
)

// Approval configures how people are asked to approve calls. The zero value opens no channels, so
// calls that need approval are refused without asking anyone.
type Approval struct {
	Channels []string      // channels for answers (elicit, url, web, cli or webhook), all open at the same time
	Mask     []string      // members whose values are hidden from people: names, which match at any depth, or paths that begin with "$."
	Hold     time.Duration // how long a call waits for an answer before the client is told to call again; 0 means 45 seconds

	// HoldFor returns the value of Hold for the named client. If HoldFor is nil, Hold applies to
	// all clients.
	HoldFor func(client string) time.Duration

	Expire   time.Duration // how long an approval request or an approval is valid; 0 means 15 minutes
	Cooldown time.Duration // how long the same call is refused in the same session after a denial; 0 means 10 minutes
	Grants   time.Duration // maximum lifetime of a grant, which approves similar calls; 0 means that grants cannot be created
	Self     bool          // whether callers can approve their own calls
	PIN      string        // hash of the PIN for approvals through cli, web or url, as printed by petrigate approvals pin; empty means no PIN
	Verb     string        // command for answering an approval, as shown in the log; empty means petrigate approvals

	// People lets the proxy reject an approval by the person who made the call. It maps each
	// person's name to the principal of that person's calls. The name is the one that the channel
	// has authenticated, or the one that appears in records as the actor. People is not used for
	// approvals through elicit, or if Self is set.
	People map[string]string

	// Page returns the URL of an approval's page, for the url channel. If Page is nil or returns
	// "", the approval has no page. The URL must not contain credentials, because it passes through
	// the client; the page must authenticate its visitors. Page must not block and must be safe for
	// concurrent use.
	Page func(id string) string

	// Asked is called with each approval request when the first call begins to wait for it.
	// Answered is called with each request that a person or a grant has approved, or that a person
	// has denied. Both may be nil. They must not block and must be safe for concurrent use.
	Asked, Answered func(operator.ApprovalInfo)
}

// pipelineApproval returns the settings in the form that package pipeline uses. The function info
// converts the approval records that are passed to Asked and Answered.
func (a Approval) pipelineApproval(info func(approval.Record) operator.ApprovalInfo) pipeline.Approval {
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

// Access configures who can use the HTTP endpoint. The zero value is invalid: one of Token, Tokens,
// JWT and Open must be set. Open is allowed only if the endpoint has a loopback address.
type Access = front.Access

// JWT makes the endpoint an OAuth 2.1 resource server. The principal of a token consists of its
// issuer and its subject.
type JWT = front.JWT

// Local reports whether a request was sent by a program on this machine and is addressed to
// localhost. It returns false for a request that has an Origin header or was forwarded by a reverse
// proxy.
func Local(r *http.Request) bool { return httpguard.Local(r) }

// A Database stores session states, audit records, approvals, and operators' orders to stop calls,
// outside the process.
type Database = backend.Backend

// Parameter and result types of the methods for operators. They are declared in internal/operator,
// so that the console and the control socket do not depend on this package; programs that embed a
// proxy use these names.
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

// The states of an approval request. All except Pending and Approved are final.
const (
	Pending   = operator.Pending
	Approved  = operator.Approved
	Denied    = operator.Denied
	Expired   = operator.Expired
	Withdrawn = operator.Withdrawn
	Consumed  = operator.Consumed
)

// ChannelCLI is the channel used by an operator at a terminal.
const ChannelCLI = operator.ChannelCLI
