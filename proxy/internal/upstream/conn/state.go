package conn

import (
	"encoding/json"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
)

// Phase says whether an upstream can be used.
type Phase int

// The phases of an upstream.
const (
	Starting Phase = iota // never was up yet; being tried
	Up
	Down   // was up, or could not be reached; being tried again
	Failed // given up: it cannot work as configured, or it was closed
)

func (p Phase) String() string {
	switch p {
	case Starting:
		return "starting"
	case Up:
		return "up"
	case Down:
		return "down"
	}
	return "failed"
}

// Era is one of the two families of protocol revisions.
type Era int

// The eras.
const (
	Legacy Era = iota // 2025-11-25 and before: a handshake, then a session
	Modern            // 2026-07-28 and later: each request carries its own metadata
)

func (e Era) String() string {
	if e == Modern {
		return "modern"
	}
	return "legacy"
}

// State is what is known of an upstream at one moment.
type State struct {
	Phase Phase
	Err   error     // why it is not up
	Since time.Time // of the phase

	// The rest is of the last connection that was up.
	Era             Era
	ProtocolVersion string
	SpeaksLegacy    bool            // a modern server knows older revisions too
	ServerInfo      json.RawMessage // as the server gave it; nil if it gave none
	Capabilities    json.RawMessage
	Instructions    string
	Around          json.RawMessage // the rest of what it said of itself, an object; nil: none
	Pid             int             // of the child; 0 for HTTP
}

// Rev is the family of revisions that the server speaks.
func (s State) Rev() *rev.Rev {
	if s.Era == Modern {
		return rev.Rev2026
	}
	return rev.Rev2025
}
