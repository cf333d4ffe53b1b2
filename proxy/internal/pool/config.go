package pool

import (
	"crypto/tls"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A ToolFilter selects which tools of a server clients can use.
type ToolFilter = toolname.Filter

// An Upstream configures an MCP server behind the proxy: either a Command that communicates over
// stdio, or the URL of a streamable HTTP endpoint.
type Upstream struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	URL     string
	Headers map[string]string

	SSE bool // whether the URL is an HTTP+SSE endpoint (2024-11-05); if false, streamable HTTP is tried first

	TLS *tls.Config // trusted roots and client certificate for https; nil means the system's roots and no certificate

	Credentials Credentials // source of HTTP credentials, used in addition to the headers; nil if none

	Protocol string        // protocol to use: "auto" or empty, "legacy", or "2026-07-28"
	Timeout  time.Duration // timeout per call; 0 means 60 seconds
	Prefix   *string       // prefix of the tool names that clients use; nil means the upstream's name or, for the only upstream, no prefix
	Tools    ToolFilter    // tools that clients can use

	Isolation string // how sessions share connections: "auto" or empty, "session", or "shared"
	Limits    Limits
}

// Limits bounds the use of a server.
type Limits struct {
	InFlight    int // maximum number of in-flight calls; 0 means no limit
	MessageSize int // maximum size of a message from the server in bytes; 0 means MaxResult in [Options]
	Sessions    int // maximum number of dedicated connections; 0 means 64 processes, or 1000 sessions over HTTP
}

// Values of [Upstream.Isolation].
const (
	// IsolateAuto lets sessions share the connection until the server sends a request to a client
	// outside the response stream of a call. The proxy forwards that request if it knows which
	// client is meant, and refuses it otherwise. After that, each session that starts to use the
	// server gets a dedicated connection if its client declares capabilities.
	IsolateAuto    = "auto"
	IsolateSession = "session" // each session has a dedicated connection
	IsolateShared  = "shared"  // all sessions share one connection
)

// KnownIsolation reports whether s is a value of [Upstream.Isolation].
func KnownIsolation(s string) bool {
	return slices.Contains([]string{"", IsolateAuto, IsolateSession, IsolateShared}, s)
}

// Kind returns the word that messages use for a connection to the server: "process" or
// "connection".
func (c Upstream) Kind() string {
	if c.Command != "" {
		return "process"
	}
	return "connection"
}

// maxDedicated returns the maximum number of dedicated connections.
func (c Upstream) maxDedicated() int {
	switch {
	case c.Limits.Sessions > 0:
		return c.Limits.Sessions
	case c.Command != "":
		return defaultProcesses
	}
	return defaultHTTPSessions
}

// Defaults for [Limits.Sessions].
const (
	defaultProcesses    = 64   // default for child processes
	defaultHTTPSessions = 1000 // default for servers over HTTP
)

// ExposedPrefix returns the prefix of the tool names that clients use. alone is true if this is the
// only server.
func (c Upstream) ExposedPrefix(alone bool) string {
	prefix := ""
	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	return toolname.Prefix(c.Name, prefix, c.Prefix != nil, alone)
}

// Credentials authorizes HTTP requests to a server with tokens that change over time.
type Credentials = upstream.Credentials
