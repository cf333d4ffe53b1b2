// Package logkind marks log records with the kind of event they report. Components that show these
// events to people recognize the records by their marks, whatever the message says.
//
//	log.Info("upstream is up", logkind.Up, "upstream", name, "tools", count)
//
// A mark is a log attribute that does not appear in the output of handlers.
package logkind

import "log/slog"

// A kind is the type of event that a log record reports.
type kind string

// LogValue returns an empty group, which handlers omit from their output.
func (kind) LogValue() slog.Value { return slog.GroupValue() }

// Marks for log records. Each comment describes the event and lists the keys of the record's other
// attributes.
var (
	Up         = mark("up")         // an upstream is ready; attributes: upstream, tools, protocol
	Connected  = mark("connected")  // an upstream is connected, but has not listed its tools yet
	Operator   = mark("operator")   // an operator has sent a command to the proxy; attributes: event, session, net, call, actor, reason
	Reloaded   = mark("reloaded")   // the configuration was reloaded; attributes: actor, policy, and, if the policy changed, before and difference
	NotLoaded  = mark("not loaded") // a new configuration was rejected; attributes: actor, problem
	Restart    = mark("restart")    // a configuration change will take effect only after a restart; attribute: key
	Refused    = mark("refused")    // a call was refused; its audit record contains the details
	Unresolved = mark("unresolved") // a call was refused because its name is unknown; its audit record contains the details
	Shadowed   = mark("shadowed")   // a call passed only because of shadow mode; its audit record contains the details
	Approval   = mark("approval")   // an approval was requested or answered
)

func mark(k kind) slog.Attr { return slog.Any("", k) }

// Of returns the mark of a log record, or the zero attribute if the record has no mark.
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
