package pool

import (
	"crypto/tls"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A ToolFilter selects the tools of an upstream that clients may use.
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

	SSE bool // the URL is one of HTTP+SSE (2024-11-05); servers that know only that are found without it too

	TLS *tls.Config // how a server over https is known, and who we are to it; nil: as usual

	Credentials Credentials // over HTTP, beside the headers; nil: none

	Protocol string        // auto (also empty), legacy, or 2026-07-28
	Timeout  time.Duration // of one call; 0: 60 s
	Prefix   *string       // of the exposed names; nil: the upstream's name, or none where there is one upstream
	Tools    ToolFilter    // which of its tools there are

	Isolation string // whether sessions share it: auto (also empty), session, or shared
	Limits    Limits
}

// Limits bound what an upstream is used for at a time.
type Limits struct {
	InFlight    int // calls under way; 0: no bound
	MessageSize int // bytes of one message of it; 0: MaxResult of the Options
	Sessions    int // that have it for themselves; 0: 64 processes, or 1000 sessions over HTTP
}

// The ways to share an upstream.
const (
	// IsolateAuto shares the upstream until it asks something of a client. That
	// goes to the client where it is sure which one it is for, and else is
	// refused; sessions that use the upstream first after that, and whose
	// clients can be asked, have it for themselves.
	IsolateAuto    = "auto"
	IsolateSession = "session" // each session has it for itself
	IsolateShared  = "shared"  // all share it
)

// KnownIsolation reports whether s is a word for how an upstream is shared.
func KnownIsolation(s string) bool {
	return slices.Contains([]string{"", IsolateAuto, IsolateSession, IsolateShared}, s)
}

func (c Upstream) Kind() string {
	if c.Command != "" {
		return "process"
	}
	return "connection"
}

func (c Upstream) maxDedicated() int {
	switch {
	case c.Limits.Sessions > 0:
		return c.Limits.Sessions
	case c.Command != "":
		return defaultProcesses
	}
	return defaultHTTPSessions
}

// Defaults of [Upstream].
const (
	defaultProcesses    = 64   // of an upstream that is started
	defaultHTTPSessions = 1000 // of one that listens
)

// prefix returns what stands before the names of c's tools for clients; alone says
// that there is no other upstream.
func (c Upstream) ExposedPrefix(alone bool) string {
	prefix := ""
	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	return toolname.Prefix(c.Name, prefix, c.Prefix != nil, alone)
}

// Credentials say in whose name requests to an upstream over HTTP are made,
// where that changes with time.
type Credentials = upstream.Credentials
