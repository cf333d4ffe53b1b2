package narrate

import (
	"context"
	"log/slog"
	"strings"
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

// Handle writes a record, or has it told.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	told := false
	switch {
	case r.Message == "upstream is up":
		h.up(r)
		told = true
	case r.Message == "operator":
		h.operator(r)
		told = true
	case r.Message == "another policy is in force", strings.HasPrefix(r.Message, "the configuration was read again"):
		h.reloaded(r)
		told = !h.Enabled(ctx, slog.LevelDebug) // where all of the difference is in the log
	case r.Message == "upstream connected": // which is told when its tools are known
		told = !h.Enabled(ctx, slog.LevelDebug)
	case r.Message == "call of something unknown refused": // which is on record as a refusal
		told = !h.narrator.lines.isQuiet()
	case r.Level == slog.LevelInfo: // an error of the same words is not told elsewhere
		told = r.Message == "call refused" || r.Message == "in shadow: the call passes" || ofApproval(r.Message)
	}
	if told {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// ofApproval reports whether the message says that an approval is wanted or was answered.
func ofApproval(message string) bool {
	rest, ok := strings.CutPrefix(message, "approval ")
	_, what, _ := strings.Cut(rest, " ")
	return ok && (strings.HasPrefix(what, "wanted:") || strings.HasPrefix(what, "approved") || strings.HasPrefix(what, "denied:"))
}

// up tells that a server answers, with how many tools.
func (h handler) up(r slog.Record) {
	f := facts(r)
	says := f["tools"] + " tools"
	if f["tools"] == "1" {
		says = "1 tool"
	}
	h.narrator.lines.tell(line{at: r.Time, verb: "up", about: f["upstream"], says: join(says, f["protocol"])})
}

// reloaded tells that the configuration was read again, and in a sentence what differs.
func (h handler) reloaded(r slog.Record) {
	f := facts(r)
	says := "the policy is the same"
	if f["before"] != "" {
		says, _, _ = strings.Cut(f["difference"], "\n")
		says = join(says, "policy "+f["policy"][:min(len(f["policy"]), 12)])
	}
	h.narrator.lines.tell(line{at: r.Time, verb: "load", about: "configuration", says: join(says, by(f["actor"])), vital: f["before"] != ""})
}

// operator tells what an operator does.
func (h handler) operator(r slog.Record) {
	f := facts(r)
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
	l.says = join(whom, by(f["actor"]), f["reason"])
	h.narrator.lines.tell(l)
}

// facts are the attributes of a record as texts.
func facts(r slog.Record) map[string]string {
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
