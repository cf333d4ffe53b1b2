package operator

import (
	"context"

	"github.com/petrigate/petrigate/gate"
)

// A Proxy is a running proxy as its operator uses it. It is safe for concurrent use.
//
// Methods with an [Actor] put the order on record before they carry it out.
type Proxy interface {
	Status() Status

	// AwaitTools waits until each upstream has listed its tools or is known to be down.
	AwaitTools(ctx context.Context)
	// Tools lists the tools and the present verdict on each in a session; without an id in the
	// only session, or in one that begins now.
	Tools(session string) ([]ToolInfo, error)

	Approvals() []ApprovalInfo
	Approval(id string) (ApprovalInfo, error)
	// ApprovalsChanged returns a channel that the next change of a request for approval closes.
	ApprovalsChanged() <-chan struct{}
	Answer(id string, a Answer) error
	Grants() []GrantInfo
	Revoke(id, actor string) error

	// Sessions lists the sessions of this process, AllSessions those of every process that shares
	// the database, and ListSessions the same without their nets, which is faster.
	Sessions() []SessionInfo
	AllSessions() ([]SessionInfo, error)
	ListSessions() ([]SessionInfo, error)
	Session(id string) (SessionInfo, error)
	// State returns a copy of a session's state; without an id that of a session that begins now.
	State(session string) (*gate.State, error)
	// ChannelsOf lists the channels that accept answers to requests of a session now.
	ChannelsOf(session string) ([]string, error)
	ResetSession(id string, a Actor) error
	// SettleCall records how a call of unknown outcome ended.
	SettleCall(session string, call uint64, success bool, a Actor) error

	Nets() []PolicyNet
	SwitchNet(name string, on bool, a Actor) error
	// Shadow reports on the nets in shadow, of one session or of all.
	Shadow(session string) (ShadowInfo, error)

	// Stop refuses new calls, of one session or of all; StartAgain ends a stop.
	Stop(session, actor, reason string) (Stopping, error)
	StartAgain(session string, a Actor) (Stopping, error)
}

// Pins are the accepted definitions of tools. They are safe for concurrent use.
type Pins interface {
	// Changes lists the tools whose present definition is not accepted.
	Changes() []ToolChange
	// Accept accepts the present definition of a tool, if hash is that of the [ToolChange].
	Accept(canonical, hash string, a Actor) error
}
