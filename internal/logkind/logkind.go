// Package logkind marks log lines with the kind of event that they report. Components that show
// such events in another form recognize the lines by their marks, whatever their wording is.
//
//	log.Info("upstream is up", logkind.Up, "upstream", name, "tools", count)
//
// A mark is a log attribute that handlers leave out of their output.
package logkind

import "log/slog"

// A kind is a kind of event.
type kind string

// LogValue returns an empty group. Handlers leave out empty groups.
func (kind) LogValue() slog.Value { return slog.GroupValue() }

// The marks. After each one, the comment lists the other attributes of the marked lines.
var (
	Up         = mark("up")         // an upstream is ready: upstream, tools, protocol
	Connected  = mark("connected")  // an upstream is connected, but its tools are not known yet
	Operator   = mark("operator")   // an operator has given an order to the proxy: event, session, net, call, actor, reason
	Reloaded   = mark("reloaded")   // the configuration was reloaded: actor, policy; if the policy changed: before, difference
	NotLoaded  = mark("not loaded") // a new configuration was rejected: actor, problem
	Restart    = mark("restart")    // a change of the configuration will take effect only after a restart: key
	Refused    = mark("refused")    // a call was refused; its audit record contains the details
	Unresolved = mark("unresolved") // a call of something unknown was refused; its audit record contains the details
	Shadowed   = mark("shadowed")   // a call has passed because of shadow mode; its audit record contains the details
	Approval   = mark("approval")   // an approval was requested or answered
)

func mark(k kind) slog.Attr { return slog.Any("", k) }

// Of returns the mark of a log record. If the record has no mark, Of returns the zero attribute.
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
