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
// channels of approvals, the console, the monitor, and the reloads. New opens these and starts
// nothing; Run starts them and serves clients until it is told to end; Close closes them in the
// reverse order.
//
// The configuration in force belongs to the reloads, whose mutex also serializes reloads. Reloads
// are triggered by operators, by hang-up signals, by changed files and by refreshed bases; each of
// the reloadTriggers has its own goroutine, which Run waits for. All listeners are limitListeners, which bound
// the connections in total and per address.
//
// Other functions of the package serve commands that do not run a proxy: they list the tools of
// servers, open audit logs, or check files that a configuration names.
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

// Options configures a Daemon. Config and Policy are required.
type Options struct {
	Config  *config.Config
	Policy  *policy.Result // see [Policy]
	Known   diag.List      // problems of the policy that were shown already; the review does not repeat them
	Log     slog.Handler   // nil: discard; receives no secrets of the configuration
	Version string

	// Load loads the configuration again, for [Daemon.Reload]; nil: reloads are not possible. Level
	// is the level of Log, which a reload changes; nil: it does not change.
	Load  func() (*config.Config, error)
	Level *slog.LevelVar
	Watch bool // reload when a file of the configuration changes

	// Narration receives what happens, one line per event, which Log then does not receive; nil: no
	// narration. Ink colors it.
	Narration io.Writer
	Ink       text.Ink

	HangUps <-chan struct{} // each value triggers a reload, see Load; may be nil

	// Tune allows the proxy to change GOMAXPROCS, because the process serves nothing else.
	Tune bool
}

// A Daemon is a proxy with everything that serves it. The caller must close it.
type Daemon struct {
	*proxy.Proxy
	config     *config.Config
	file       string                 // absolute path of the configuration; empty: no file
	listen     atomic.Pointer[string] // address for clients; nil: not listening yet
	secrets    masker
	log        *slog.Logger
	audit      *audit.Log // nil: no audit file
	feed       *audit.Feed
	database   *database // nil: states are in memory
	begun      atomic.Bool
	monitor    *monitor
	channels   channels          // announce requests for approval
	narrator   *narrate.Narrator // nil: no narration
	processors *processors       // nil: GOMAXPROCS is not changed
	reloads    reloads
	triggers   *reloadTriggers
	bases      atomic.Pointer[[]operator.BaseInfo] // bases of the policy in force
	console    *consoleServer
	pins       *proxy.Pins // nil: definitions of tools are not pinned
	tokens     []*oauth.Source
}

// offeredTools returns the tools that can be called now.
func (d *Daemon) offeredTools() toolset { return d.Offered() }

// agents returns the agents whose hooks have reported calls.
func (d *Daemon) agents() []string { return d.Hooks.Agents() }

// separateSessions reports whether calls reported by hooks run in other sessions than those of MCP
// clients.
func (d *Daemon) separateSessions() bool {
	return d.config.Session.By == "" || d.config.Session.By == "connection"
}
