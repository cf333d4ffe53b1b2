// Package logkind marks log lines with the kind of event that they report. Components that present
// such events in another form recognize the lines by their marks, regardless of their wording.
//
//	log.Info("upstream is up", logkind.Up, "upstream", name, "tools", count)
//
// A mark is a log attribute that handlers omit from their output.
package logkind

import "log/slog"

// A kind is a kind of event.
type kind string

// LogValue returns an empty group, which handlers omit.
func (kind) LogValue() slog.Value { return slog.GroupValue() }

// Marks, each with the other attributes of the marked lines.
var (
	Up         = mark("up")         // an upstream server is ready: upstream, tools, protocol
	Connected  = mark("connected")  // an upstream server is connected, but its tools are not known yet
	Operator   = mark("operator")   // an operator used the proxy: event, session, net, call, actor, reason
	Reloaded   = mark("reloaded")   // the configuration was reloaded: actor, policy; if the policy changed: before, difference
	NotLoaded  = mark("not loaded") // a new configuration was rejected: actor, problem
	Restart    = mark("restart")    // a change of the configuration requires a restart: key
	Refused    = mark("refused")    // a call was refused; details are in its audit record
	Unresolved = mark("unresolved") // a call of something unknown was refused; details are in its audit record
	Shadowed   = mark("shadowed")   // a call passed in shadow mode; details are in its audit record
	Approval   = mark("approval")   // an approval was requested or answered
)

func mark(k kind) slog.Attr { return slog.Any("", k) }

// Of returns the mark of a log record, or the zero attribute if it has none.
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
