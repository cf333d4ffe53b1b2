package pool

import (
	"crypto/tls"
	"time"

	"github.com/petrigate/petrigate/internal/toolname"
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
