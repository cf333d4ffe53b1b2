package operator

import (
	"context"

	"github.com/petrigate/petrigate/gate"
)

// A Proxy is the interface through which an operator uses a running proxy. It is safe for
// concurrent use.
//
// Methods that take an [Actor] record the operator's action before they carry it out.
type Proxy interface {
	Status() Status

	// AwaitTools waits until each upstream has listed its tools or is known to be down.
	AwaitTools(ctx context.Context)
	// Tools lists the tools, each with the decision that a call would now receive in the given
	// session. If session is empty, Tools uses the only session or, if there is not exactly one, a
	// new session.
	Tools(session string) ([]ToolInfo, error)

	Approvals() []ApprovalInfo
	Approval(id string) (ApprovalInfo, error)
	// ApprovalsChanged returns a channel that will be closed when any approval request changes.
	ApprovalsChanged() <-chan struct{}
	Answer(id string, a Answer) error
	Grants() []GrantInfo
	Revoke(id, actor string) error

	// Sessions lists the sessions of this process. AllSessions lists the sessions of all processes
	// that share the database. ListSessions lists the same sessions as AllSessions, but without
	// their nets, which is faster.
	Sessions() []SessionInfo
	AllSessions() ([]SessionInfo, error)
	ListSessions() ([]SessionInfo, error)
	Session(id string) (SessionInfo, error)
	// State returns a copy of the session's state. If session is empty, it returns the state of a
	// new session.
	State(session string) (*gate.State, error)
	// ChannelsOf returns the channels through which approval requests of the session can currently
	// be answered.
	ChannelsOf(session string) ([]string, error)
	ResetSession(id string, a Actor) error
	// SettleCall sets the outcome of a call whose outcome is unknown.
	SettleCall(session string, call uint64, success bool, a Actor) error

	Nets() []PolicyNet
	SwitchNet(name string, on bool, a Actor) error
	// Shadow reports on the nets in shadow mode in the given session or, if session is empty, in
	// all sessions.
	Shadow(session string) (ShadowInfo, error)

	// Stop makes the proxy refuse new calls in the given session or, if session is empty, in all
	// sessions. StartAgain makes the proxy accept calls again.
	Stop(session, actor, reason string) (Stopping, error)
	StartAgain(session string, a Actor) (Stopping, error)
}

// A Pins value stores the tool definitions that a person has accepted. It is safe for concurrent
// use.
type Pins interface {
	// Changes lists the tools whose current definition has not been accepted.
	Changes() []ToolChange
	// Accept accepts the current definition of a tool. The hash must equal the hash in the
	// [ToolChange].
	Accept(canonical, hash string, a Actor) error
}
