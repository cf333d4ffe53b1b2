// Package daemon runs a proxy as described by a configuration: it reads tokens and certificates,
// listens for clients and operators, keeps secrets out of the logs, records decisions, and reviews
// the policy once the servers' tools are known.
//
//	pol, problems, err := daemon.Policy(ctx, cfg)
//	...
//	d, err := daemon.New(daemon.Options{Config: cfg, Policy: pol, Known: problems})
//	...
//	defer d.Close()
//	err = d.Run(ctx, os.Stdin, os.Stdout, os.Stderr)
//
// A [Daemon] embeds the proxy and owns the audit log, the database, the approval channels, the
// console, and everything else around the proxy. New prepares these but starts nothing. Run starts
// them and serves clients until its context is canceled or the stdio client disconnects. Close
// stops the proxy and closes the rest.
//
// The reloads type holds the configuration in force; its mutex also serializes reloads. A reload is
// triggered by an operator, a hang-up signal, a changed file or a refreshed base policy. Signals,
// files and base policies are each watched by a goroutine, and Run waits for these goroutines to
// end. All network listeners are limitListeners, which limit the number of connections in total and
// per address.
//
// The package also contains functions for commands that do not run a proxy: they list the servers'
// tools, open audit logs, or check the files named in a configuration.
package daemon

import (
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/serve/narrate"
	"github.com/petrigate/petrigate/internal/serve/oauth"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// Options configures a [Daemon]. Config and Policy are required.
type Options struct {
	Config  *config.Config
	Policy  *policy.Result // result of [Policy]
	Known   diag.List      // policy problems already shown to the user; the review does not report them again
	Log     slog.Handler   // if nil, nothing is logged; secrets from the configuration are removed from all records
	Version string

	// Load returns a newly loaded configuration for [Daemon.Reload]. If Load is nil, the
	// configuration cannot be reloaded. Level is the level of Log. A reload changes it to the
	// configured level; if Level is nil, the level never changes.
	Load  func() (*config.Config, error)
	Level *slog.LevelVar
	Watch bool // whether to reload when a configuration file changes

	// If Narration is not nil, each event is written to it as a line of text instead of being
	// logged. Ink colors the lines.
	Narration io.Writer
	Ink       text.Ink

	HangUps <-chan struct{} // triggers a reload for each value received; may be nil

	// Tune lets the daemon change GOMAXPROCS. It must not be set if the process does anything other
	// than run the daemon.
	Tune bool
}

// A Daemon is a proxy with its listeners, audit log and database. The caller must close it.
type Daemon struct {
	*proxy.Proxy
	config     *config.Config
	file       string                 // absolute path of the configuration file; empty if the proxy has none
	listen     atomic.Pointer[string] // address for clients; nil until the proxy listens
	secrets    masker
	log        *slog.Logger
	audit      *audit.Log // nil if no audit file is configured
	feed       *audit.Feed
	database   *database   // nil if states are kept in memory
	begun      atomic.Bool // whether the audit log contains a record of the proxy's start
	monitor    *monitor
	channels   channels          // channels that announce approval requests
	narrator   *narrate.Narrator // nil if narration is off
	processors *processors       // nil if GOMAXPROCS must not change
	reloads    reloads
	triggers   *reloadTriggers
	bases      atomic.Pointer[[]operator.BaseInfo] // bases of the policy in force
	console    *consoleServer
	pins       *proxy.Pins // nil if tool definitions are not pinned
	tokens     []*oauth.Source
}
