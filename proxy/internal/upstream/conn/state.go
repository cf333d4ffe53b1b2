package conn

import (
	"encoding/json"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
)

// Phase is the connection phase of an upstream.
type Phase int

// The phases of an upstream.
const (
	Starting Phase = iota // never up so far; connecting
	Up
	Down   // was up or could not be reached; reconnecting
	Failed // given up: it cannot work with this configuration, or it was closed
)

func (p Phase) String() string { return [...]string{"starting", "up", "down", "failed"}[p] }

// State is a snapshot of the state of an upstream.
type State struct {
	Phase Phase
	Err   error     // why it is not up
	Since time.Time // start of the phase

	Introduction     // from the last connection that was up
	Pid          int // process id of the child; 0 for HTTP
}

// An Introduction is a server's description of itself from the handshake.
type Introduction struct {
	ProtocolVersion string
	Speaks2025      bool            // a server of [rev.Rev2026] supports older revisions too
	ServerInfo      json.RawMessage // as sent by the server; nil: not sent
	Capabilities    json.RawMessage
	Instructions    string
	Around          json.RawMessage // object with the remaining members; nil: too large
}

// Rev returns the family of revisions that the server speaks.
func (i Introduction) Rev() *rev.Rev { return rev.Of(i.ProtocolVersion) }
