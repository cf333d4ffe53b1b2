package pool

import (
	"crypto/tls"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A ToolFilter selects the tools of a server that clients can use.
type ToolFilter = toolname.Filter

// An Upstream configures one MCP server behind the proxy: a Command that speaks stdio, or the URL
// of a streamable HTTP endpoint.
type Upstream struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	URL     string
	Headers map[string]string

	SSE bool // the URL is an HTTP+SSE endpoint (2024-11-05); the proxy also detects servers with only that transport

	TLS *tls.Config // trusted roots and client certificate for https; nil: the system's roots and no certificate

	Credentials Credentials // credentials over HTTP besides the headers; nil: none

	Protocol string        // auto (also empty), legacy, or 2026-07-28
	Timeout  time.Duration // timeout of one call; 0: 60 s
	Prefix   *string       // prefix of the exposed names; nil: the upstream's name, or no prefix for an only upstream
	Tools    ToolFilter    // tools that clients can use

	Isolation string // whether sessions share the connection: auto (also empty), session, or shared
	Limits    Limits
}

// Limits limits the use of a server.
type Limits struct {
	InFlight    int // calls in flight; 0: no limit
	MessageSize int // bytes of one message from the server; 0: MaxResult of the Options
	Sessions    int // sessions with a dedicated connection; 0: 64 processes, or 1000 sessions over HTTP
}

// The values of [Upstream.Isolation].
const (
	// IsolateAuto lets sessions share the connection until the server sends a request to a client.
	// The proxy forwards that request if its client is certain, and refuses it otherwise. Sessions
	// that first use the server after that get a dedicated connection if their clients declare
	// capabilities.
	IsolateAuto    = "auto"
	IsolateSession = "session" // each session has a dedicated connection
	IsolateShared  = "shared"  // all sessions share one connection
)

// KnownIsolation reports whether s is a value of [Upstream.Isolation].
func KnownIsolation(s string) bool {
	return slices.Contains([]string{"", IsolateAuto, IsolateSession, IsolateShared}, s)
}

// Kind returns the noun for a connection to the server in messages: "process" or "connection".
func (c Upstream) Kind() string {
	if c.Command != "" {
		return "process"
	}
	return "connection"
}

// maxDedicated returns the maximum number of sessions with a dedicated connection.
func (c Upstream) maxDedicated() int {
	switch {
	case c.Limits.Sessions > 0:
		return c.Limits.Sessions
	case c.Command != "":
		return defaultProcesses
	}
	return defaultHTTPSessions
}

// Defaults of [Limits.Sessions].
const (
	defaultProcesses    = 64   // for a child process
	defaultHTTPSessions = 1000 // for a server over HTTP
)

// ExposedPrefix returns the prefix of the exposed tool names. alone reports that this is the only
// server.
func (c Upstream) ExposedPrefix(alone bool) string {
	prefix := ""
	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	return toolname.Prefix(c.Name, prefix, c.Prefix != nil, alone)
}

// Credentials authorize requests to a server over HTTP with tokens that change over time.
type Credentials = upstream.Credentials
