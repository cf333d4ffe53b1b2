package proxy

import "github.com/petrigate/petrigate/internal/operator"

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
