// Package daemon runs a proxy from a configuration: it reads tokens and certificates, listens, logs
// without secrets, records decisions, serves operators at a control socket, and reviews the policy
// when the tools of the servers are known.
//
//	pol, problems, err := daemon.Policy(ctx, cfg)
//	...
//	d, err := daemon.New(daemon.Options{Config: cfg, Policy: pol, Known: problems})
//	...
//	defer d.Close()
//	err = d.Run(ctx, os.Stdin, os.Stdout, os.Stderr)
//
// A [Daemon] embeds the proxy and owns everything around it: the audit log or database, the
// approval channels, the console, the monitor, and the reloads. New opens these but starts nothing;
// Run starts them and serves clients until its context is canceled or the stdio client disconnects;
// Close closes them in reverse order.
//
// The configuration in force belongs to the reloads type, whose mutex also serializes reloads. A
// reload is triggered by an operator, a hang-up signal, a changed file or a refreshed base; each of
// the reloadTriggers has its own goroutine, and Run waits for all of them. All listeners are
// limitListeners, which limit the number of connections in total and per address.
//
// Other functions in this package serve commands that do not run a proxy: they list the servers'
// tools, open audit logs, or check the files that a configuration names.
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
	Policy  *policy.Result // see [Policy]
	Known   diag.List      // policy problems already shown to the user; the review does not report them again
	Log     slog.Handler   // nil: discard; never receives secrets from the configuration
	Version string

	// Load loads the configuration again, for [Daemon.Reload]; nil means that it cannot be
	// reloaded. Level is the log level of Log, which a reload may change. A nil Level means that
	// the log level never changes.
	Load  func() (*config.Config, error)
	Level *slog.LevelVar
	Watch bool // whether to reload when a configuration file changes

	// Narration is where events are written, one per line, instead of to Log; nil means no
	// narration. Ink colors the lines.
	Narration io.Writer
	Ink       text.Ink

	HangUps <-chan struct{} // each value triggers a reload with Load; may be nil

	// Tune lets the proxy change GOMAXPROCS. It must be set only if the process does nothing else.
	Tune bool
}

// A Daemon is a proxy together with the servers and files around it. The caller must close it.
type Daemon struct {
	*proxy.Proxy
	config     *config.Config
	file       string                 // absolute path of the configuration; empty if the configuration does not come from a file
	listen     atomic.Pointer[string] // address for clients; nil until the proxy listens
	secrets    masker
	log        *slog.Logger
	audit      *audit.Log // nil if no audit file is configured
	feed       *audit.Feed
	database   *database   // nil if states are kept in memory
	begun      atomic.Bool // whether the start of the proxy has been recorded
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
