package conn

import (
	"github.com/mark3labs/mcp-go/mcp"
)

// Session is what requests over HTTP carry: what a handshake agreed on.
type Session struct {
	ID      string // of the legacy era; may be empty
	Version string
}

func (s *Session) Modern() bool { return mcp.IsModernProtocol(s.Version) }
