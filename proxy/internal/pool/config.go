package pool

import (
	"crypto/tls"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A ToolFilter selects the tools of a server that clients may use.
type ToolFilter = toolname.Filter

// An Upstream is one MCP server behind the proxy: a Command that speaks
// stdio, or the URL of a streamable HTTP endpoint.
type Upstream struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	URL     string
	Headers map[string]string

	SSE bool // the URL is one of HTTP+SSE (2024-11-05); servers with only that transport are found without it too

	TLS *tls.Config // trusted roots and our certificate, over https; nil: those of the system, and none

	Credentials Credentials // over HTTP, in addition to the headers; nil: none

	Protocol string        // auto (also empty), legacy, or 2026-07-28
	Timeout  time.Duration // of one call; 0: 60 s
	Prefix   *string       // of the exposed names; nil: the upstream's name, or none where there is one upstream
	Tools    ToolFilter    // which of its tools clients may use

	Isolation string // whether sessions share the connection: auto (also empty), session, or shared
	Limits    Limits
}

// Limits bound the use of a server.
type Limits struct {
	InFlight    int // calls in flight; 0: no bound
	MessageSize int // bytes of one message of the server; 0: MaxResult of the Options
	Sessions    int // sessions with a dedicated connection; 0: 64 processes, or 1000 sessions over HTTP
}

// The values of [Upstream.Isolation].
const (
	// IsolateAuto lets sessions share the connection until the server sends a request
	// to a client. The proxy passes that request on if it is certain for which client
	// it is, and refuses it otherwise. Sessions that first use the server after that
	// get a dedicated connection, if their clients declare capabilities.
	IsolateAuto    = "auto"
	IsolateSession = "session" // each session has a dedicated connection
	IsolateShared  = "shared"  // all sessions share one connection
)

// KnownIsolation reports whether s is a value of [Upstream.Isolation].
func KnownIsolation(s string) bool {
	return slices.Contains([]string{"", IsolateAuto, IsolateSession, IsolateShared}, s)
}

// Kind returns what a connection to the server is for people: a process or a connection.
func (c Upstream) Kind() string {
	if c.Command != "" {
		return "process"
	}
	return "connection"
}

// maxDedicated returns how many sessions may have a dedicated connection.
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
	defaultProcesses    = 64   // of a server that is a process
	defaultHTTPSessions = 1000 // of a server over HTTP
)

// ExposedPrefix returns the prefix of the tools' names for clients; alone says that
// there is no other server.
func (c Upstream) ExposedPrefix(alone bool) string {
	prefix := ""
	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	return toolname.Prefix(c.Name, prefix, c.Prefix != nil, alone)
}

// Credentials authorize requests to a server over HTTP with tokens that change over time.
type Credentials = upstream.Credentials
