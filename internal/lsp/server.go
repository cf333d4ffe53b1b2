package lsp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// Options configure a server. The zero value is ready to use.
type Options struct {
	Version string
	Tools   []check.ListedTool // complete list of tools, used to check names; nil if the tools are unknown

	// Running asks the proxy that runs a configuration for its tools. This may take a long time.
	// The tools are offered as completions, but names are not checked against them. If Running is
	// nil, no proxy is asked.
	Running func(*config.Config) check.ToolSet

	// Lint returns additional problems in a configuration. It may be nil.
	Lint func(*config.Config) diag.List

	// Base returns the cached copy of the base policy with the given URL. It does not fetch
	// anything. A base policy that is not cached is omitted with a warning. If Base is nil, all
	// base policies are treated as not cached.
	Base config.Fetch

	// Trusts reports whether the user trusts a configuration. An untrusted configuration is only
	// read as text. If Trusts is nil, no configuration is trusted.
	Trusts func(path string, src []byte) bool

	// Widened returns a problem for each base policy that might be stricter than the configuration.
	// If Widened is nil, the configuration is not compared with its base policies.
	Widened func(context.Context, *config.Config, *policy.Result) diag.List

	Quiet time.Duration // how long the user must pause typing before a check starts; 0 means 200 ms
}

// A server is a language server for a single editor.
type server struct {
	*state
	options  Options
	grammar  *grammar
	conn     *jsonrpc2.Conn
	ready    chan struct{} // closed once conn is set
	wake     chan struct{} // has capacity 1; receives a value when documents are stale
	snippets bool          // whether the editor supports snippets; used only while requests are handled
	shutdown atomic.Bool   // whether the editor has sent a shutdown request
}

// warn shows a warning in the editor.
func (s *server) warn(message string) {
	const warning = 2
	_ = s.conn.Notify(context.Background(), "window/showMessage", map[string]any{"type": warning, "message": "petrigate: " + message})
}
