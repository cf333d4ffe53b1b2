package lsp

import (
	"context"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// Options configures a server. The zero value is ready to use.
type Options struct {
	Version string
	Tools   []check.ListedTool // complete list of tools for checking names; nil: unknown

	// Running asks the proxy that runs a configuration for its tools, which may take long. The
	// tools are offered as completions, but names are not checked against them. If Running is nil,
	// no proxy is asked.
	Running func(*config.Config) check.ToolSet

	// Lint returns further problems with a configuration; may be nil.
	Lint func(*config.Config) diag.List

	// Base returns cached base policies by URL, without fetching them. A base policy that is not
	// cached is omitted with a warning. If Base is nil, none is cached.
	Base config.Fetch

	// Trusts reports whether a person has trusted a configuration. Any other configuration is read
	// as text. If Trusts is nil, none is trusted.
	Trusts func(path string, src []byte) bool

	// Widened reports the base policies that a configuration does more than narrow. If Widened is
	// nil, base policies are not checked.
	Widened func(context.Context, *config.Config, *policy.Result) diag.List

	Quiet time.Duration // pause after the last keystroke before a check starts; 0: 200 ms
}

// A server serves a single editor.
type server struct {
	*state
	options Options
	grammar *grammar
	conn    *jsonrpc2.Conn
	ready   chan struct{} // closed once conn is set
	wake    chan struct{} // has capacity 1; receives a value if documents are stale
	exited  chan struct{}
	exit    func() // closes exited on the first call
}

// warn shows a warning in the editor.
func (s *server) warn(message string) {
	const warning = 2
	_ = s.conn.Notify(context.Background(), "window/showMessage", map[string]any{"type": warning, "message": "petrigate: " + message})
}
