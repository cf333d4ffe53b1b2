package narrate

import (
	"context"
	"log/slog"
	"strings"

	"github.com/petrigate/petrigate/internal/logkind"
)

// A handler is a log handler that lets a narrator print certain records instead of logging them.
type handler struct {
	slog.Handler
	narrator *Narrator
}

// Log returns a log handler that lets n print certain records and passes all others to h. If n is
// nil, Log returns h.
func (n *Narrator) Log(h slog.Handler) slog.Handler {
	if n == nil {
		return h
	}
	return handler{h, n}
}

// Handle prints the records of certain events. It logs all other records, except those whose events
// the narrator prints by other means. At debug level, it logs a printed record too if the record
// contains more details than the printed line. In quiet mode, it logs refused calls to unknown
// names, because the narrator does not print them.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	told := true
	fewer := !h.Enabled(ctx, slog.LevelDebug)
	switch mark := logkind.Of(&r); {
	case mark.Equal(logkind.Up):
		h.up(r)
	case mark.Equal(logkind.Operator):
		h.operator(r)
	case mark.Equal(logkind.Reloaded):
		h.reloaded(r)
		told = fewer
	case mark.Equal(logkind.NotLoaded):
		h.notLoaded(r)
		told = fewer
	case mark.Equal(logkind.Restart):
		h.restart(r)
	case mark.Equal(logkind.Connected): // the narrator prints a line later, as soon as the server's tools are known
		told = fewer
	case mark.Equal(logkind.Unresolved): // the narrator prints the audit record of the refused call instead
		told = !h.narrator.lines.isQuiet()
	case mark.Equal(logkind.Refused), mark.Equal(logkind.Shadowed), mark.Equal(logkind.Approval):
	default:
		told = false
	}
	if told {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// up prints that a server is up, along with the number of its tools.
func (h handler) up(r slog.Record) {
	f := attributes(r)
	says := f["tools"] + " tools"
	if f["tools"] == "1" {
		says = "1 tool"
	}
	h.narrator.lines.print(line{at: r.Time, verb: "up", about: f["upstream"], text: join(says, f["protocol"])})
}

// reloaded prints that the configuration was reloaded, and summarizes the changes to the policy.
func (h handler) reloaded(r slog.Record) {
	f := attributes(r)
	says := "the policy is the same"
	if f["before"] != "" {
		says, _, _ = strings.Cut(f["difference"], "\n")
		says = join(says, "policy "+f["policy"][:min(len(f["policy"]), 12)])
	}
	h.narrator.lines.print(line{at: r.Time, verb: "load", about: "configuration", text: join(says, by(f["actor"])), vital: f["before"] != ""})
}

// notLoaded prints why a new configuration was rejected.
func (h handler) notLoaded(r slog.Record) {
	f := attributes(r)
	problem, more, _ := strings.Cut(strings.TrimSpace(f["problem"]), "\n")
	if more != "" {
		more = "see petrigate check"
	}
	h.narrator.lines.print(line{at: r.Time, verb: "load", about: "configuration", text: join("not applied, the previous one stays in effect: "+problem, more, by(f["actor"])), vital: true})
}

// restart prints that a changed setting takes effect only after a restart.
func (h handler) restart(r slog.Record) {
	h.narrator.lines.print(line{at: r.Time, verb: "load", about: "configuration", text: attributes(r)["key"] + " changes only after a restart of petrigate", vital: true})
}

// operator prints what an operator has done, such as resetting a session.
func (h handler) operator(r slog.Record) {
	f := attributes(r)
	l := line{at: r.Time, verb: "note", about: f["event"], vital: true}
	whom := ""
	switch {
	case f["net"] != "":
		whom = "the net " + f["net"]
	case f["session"] != "":
		whom = "session " + f["session"]
	}
	if c := f["call"]; c != "" && c != "0" {
		whom += " call #" + c
	}
	switch f["event"] {
	case "stop":
		l.verb, l.about = "halt", "all calls"
	case "start":
		l.verb, l.about = "go", "all calls"
	}
	if l.verb != "note" && whom != "" {
		l.about, whom = whom, ""
	}
	l.text = join(whom, by(f["actor"]), f["reason"])
	h.narrator.lines.print(l)
}

func attributes(r slog.Record) map[string]string {
	all := map[string]string{}
	r.Attrs(func(a slog.Attr) bool {
		all[a.Key] = a.Value.Resolve().String()
		return true
	})
	return all
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.narrator}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.narrator}
}
