// Package logkind marks log lines with the kind of event that they report. A component that
// presents such events in another form can recognize the lines regardless of their wording.
//
//	log.Info("upstream is up", logkind.Up, "upstream", name, "tools", count)
//
// A mark is an attribute that log handlers omit.
package logkind

import "log/slog"

// A kind is the kind of event that a line reports.
type kind string

// LogValue returns an empty group, which handlers omit.
func (kind) LogValue() slog.Value { return slog.GroupValue() }

// The marks, with the further attributes of their lines.
var (
	Up         = mark("up")         // an upstream server is ready: upstream, tools, protocol
	Connected  = mark("connected")  // a server is connected, but its tools are not known yet
	Operator   = mark("operator")   // an operator used the proxy: event, session, net, call, actor, reason
	Reloaded   = mark("reloaded")   // the configuration was reloaded: actor, policy; if the policy changed: before, difference
	NotLoaded  = mark("not loaded") // a new configuration was rejected: actor, problem
	Restart    = mark("restart")    // a change of the configuration requires a restart: key
	Refused    = mark("refused")    // a call was refused, as its record says
	Unresolved = mark("unresolved") // a call of something unknown was refused, as its record says
	Shadowed   = mark("shadowed")   // a call passed in shadow mode, as its record says
	Approval   = mark("approval")   // an approval was requested or answered
)

func mark(k kind) slog.Attr { return slog.Any("", k) }

// Of returns the mark of a log line, or the zero attribute if the line has no mark.
func Of(r *slog.Record) (found slog.Attr) {
	r.Attrs(func(a slog.Attr) bool {
		if _, ok := a.Value.Any().(kind); ok {
			found = a
			return false
		}
		return true
	})
	return found
}
