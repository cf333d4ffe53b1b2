package narrate

import (
	"context"
	"log/slog"
	"strings"

	"github.com/petrigate/petrigate/internal/logkind"
)

// A handler leaves out of a log what the narrator tells.
type handler struct {
	slog.Handler
	narrator *Narrator
}

// Log returns the log without what n tells, in place of which n tells it. Of a nil Narrator
// it is the log itself.
func (n *Narrator) Log(h slog.Handler) slog.Handler {
	if n == nil {
		return h
	}
	return handler{h, n}
}

// Handle writes a record, or has it told. Where all lines are wanted, those are written as well
// that say more than is told.
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
	case mark.Equal(logkind.Connected): // which is told when its tools are known
		told = fewer
	case mark.Equal(logkind.Unresolved): // which is on record as a refusal
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

// up tells that a server answers, with how many tools.
func (h handler) up(r slog.Record) {
	f := attributes(r)
	says := f["tools"] + " tools"
	if f["tools"] == "1" {
		says = "1 tool"
	}
	h.narrator.lines.print(line{at: r.Time, verb: "up", about: f["upstream"], text: join(says, f["protocol"])})
}

// reloaded tells that the configuration was read again, and in a sentence what differs.
func (h handler) reloaded(r slog.Record) {
	f := attributes(r)
	says := "the policy is the same"
	if f["before"] != "" {
		says, _, _ = strings.Cut(f["difference"], "\n")
		says = join(says, "policy "+f["policy"][:min(len(f["policy"]), 12)])
	}
	h.narrator.lines.print(line{at: r.Time, verb: "load", about: "configuration", text: join(says, by(f["actor"])), vital: f["before"] != ""})
}

// notLoaded tells that the configuration was read again and is not put in force.
func (h handler) notLoaded(r slog.Record) {
	f := attributes(r)
	problem, more, _ := strings.Cut(strings.TrimSpace(f["problem"]), "\n")
	if more != "" {
		more = "petrigate check says more"
	}
	h.narrator.lines.print(line{at: r.Time, verb: "load", about: "configuration", text: join("not put in force, the one before stays: "+problem, more, by(f["actor"])), vital: true})
}

// restart tells that a change of the configuration is not in force before a restart.
func (h handler) restart(r slog.Record) {
	h.narrator.lines.print(line{at: r.Time, verb: "load", about: "configuration", text: attributes(r)["key"] + " changes with a restart of petrigate", vital: true})
}

// operator tells what an operator does.
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

// attributes are the attributes of a record as texts.
func attributes(r slog.Record) map[string]string {
	all := map[string]string{}
	r.Attrs(func(a slog.Attr) bool {
		all[a.Key] = a.Value.Resolve().String()
		return true
	})
	return all
}

// WithAttrs is the handler with more attributes.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.narrator}
}

// WithGroup is the handler for a group.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.narrator}
}
