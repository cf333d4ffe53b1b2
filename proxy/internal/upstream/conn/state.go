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

func (p Phase) String() string { return [...]string{"starting", "up", "down", "failed"}[p] }

// State is what is known of an upstream at one moment.
type State struct {
	Phase Phase
	Err   error     // why it is not up
	Since time.Time // of the phase

	Introduction     // of the last connection that was up
	Pid          int // of the child; 0 for HTTP
}

// An Introduction is what a server has said of itself in the handshake.
type Introduction struct {
	ProtocolVersion string
	Speaks2025      bool            // a server of [rev.Rev2026] knows older revisions too
	ServerInfo      json.RawMessage // as the server gave it; nil if it gave none
	Capabilities    json.RawMessage
	Instructions    string
	Around          json.RawMessage // the rest of what it said of itself, an object; nil: none
}

// Rev is the family of revisions that the server speaks.
func (i Introduction) Rev() *rev.Rev { return rev.OfVersion(i.ProtocolVersion) }
