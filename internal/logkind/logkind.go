// Package logkind marks lines of the log with what they are about, so that who tells people
// the same in another way knows the line whatever its words are.
//
//	log.Info("upstream is up", logkind.Up, "upstream", name, "tools", count)
//
// A mark is an attribute that no handler writes.
package logkind

import "log/slog"

// A kind is what a line is about.
type kind string

// LogValue is an empty group, which handlers leave out.
func (kind) LogValue() slog.Value { return slog.GroupValue() }

// Marks of lines.
var (
	Up         = mark("up")         // a server answers: upstream, tools, protocol
	Connected  = mark("connected")  // a server is connected, and its tools are not known yet
	Operator   = mark("operator")   // somebody operates the proxy: event, session, net, call, actor, reason
	Reloaded   = mark("reloaded")   // the configuration was read again: actor, policy; before and difference where the policy is another one
	NotLoaded  = mark("not loaded") // the configuration is not put in force: actor, problem
	Restart    = mark("restart")    // a change of the configuration needs a restart: key
	Refused    = mark("refused")    // a call was refused, and its record says so
	Unresolved = mark("unresolved") // likewise, a call of something unknown
	Shadowed   = mark("shadowed")   // a call passed in shadow, and its record says so
	Approval   = mark("approval")   // an approval is wanted, or was answered
)

func mark(k kind) slog.Attr { return slog.Any("", k) }

// Of returns the mark of a line; the zero attribute: it has none.
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
