package upstream

import (
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
)

// Aliases, so that callers need to import only this package.
type (
	Config        = conn.Config
	Options       = conn.Options
	Credentials   = conn.Credentials
	Unauthorized  = streamable.Unauthorized
	Burst         = conn.Burst
	Request       = conn.Request
	Reply         = conn.Reply
	Exchange      = conn.Exchange
	ServerRequest = conn.ServerRequest
	Withdrawn     = conn.Withdrawn
	Lost          = conn.Lost
	StatusError   = conn.StatusError
	State         = conn.State
	Phase         = conn.Phase
	Watchdog      = process.Watchdog
)

// Phases of an upstream.
const (
	Starting = conn.Starting
	Up       = conn.Up
	Down     = conn.Down
	Failed   = conn.Failed
)

// ErrNotSent means that a request was not sent, or that the server refused it without executing it.
var ErrNotSent = conn.ErrNotSent
