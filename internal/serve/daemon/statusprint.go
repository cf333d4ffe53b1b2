package daemon

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

// PrintStatus prints the status of a running proxy.
func PrintStatus(w io.Writer, status operator.Status) {
	_, _ = fmt.Fprintf(w, "petrigate %s, pid %d, up %s: %s, %s, %s waiting\n", status.Version, status.Pid, age(status.Started),
		text.Count(status.Tools, "tool"), text.Count(status.Sessions, "session"), text.Count(status.Waiting, "approval"))
	_, _ = fmt.Fprintf(w, "  %s; clients at %s\n", cmp.Or(status.Config, "no configuration file"), cmp.Or(status.Listen, "no place yet"))
	switch {
	case status.ReloadProblem != "":
		_, _ = fmt.Fprintf(w, "  the configuration was reloaded %s ago and rejected:\n    %s\n", age(*status.Reloaded), strings.ReplaceAll(status.ReloadProblem, "\n", "\n    "))
	case status.Reloaded != nil:
		_, _ = fmt.Fprintf(w, "  the configuration was reloaded %s ago\n", age(*status.Reloaded))
	}
	for _, b := range status.Bases {
		printBase(w, b)
	}
	if status.Shadow {
		_, _ = fmt.Fprintln(w, "  in shadow mode: every call passes; petrigate sessions shadow shows what would have been refused"+enforceHint(status.Config))
	}
	printState(w, status.State)
	printUnknown(w, status.State)
	printAuditFile(w, status.Audit)
	printWebhook(w, status.Webhook)
	for _, stop := range status.Stopped {
		_, _ = fmt.Fprintf(w, "  STOPPED: %s\n", Stopped(stop))
	}
	for _, u := range status.Upstreams {
		printUpstream(w, u)
	}
	for _, left := range status.LeftOut {
		_, _ = fmt.Fprintf(w, "  left out: %s\n", left)
	}
	if slices.ContainsFunc(status.LeftOut, func(left string) bool { return strings.Contains(left, " is quarantined: ") }) {
		_, _ = fmt.Fprintln(w, "  petrigate tools diff shows what has changed, and petrigate tools accept accepts it")
	}
	for _, warning := range status.Warnings {
		_, _ = fmt.Fprintf(w, "  warning: %s\n", warning)
	}
}

// enforceHint returns text that names the command for leaving shadow mode and enforcing the policy.
// It returns "" if the proxy has no configuration file.
func enforceHint(file string) string {
	if file == "" {
		return ""
	}
	return "; petrigate enforce ends that"
}

// printBase prints the version and the origin of a base policy (a policy that the configuration
// extends).
func printBase(w io.Writer, b operator.BaseInfo) {
	_, _ = fmt.Fprintf(w, "  extends %s, version %d, from %s", text.Escape(b.Name), b.Version, text.Escape(b.From))
	if b.Key != "" {
		_, _ = fmt.Fprintf(w, ", signed by the key %s", b.Key)
	}
	if b.Copy != "" {
		_, _ = fmt.Fprintf(w, "\n    %s", text.Escape(b.Copy))
	}
	_, _ = fmt.Fprintln(w)
}

// printWebhook prints the webhook's addresses and, if the webhook is unreachable, the error.
func printWebhook(w io.Writer, h *operator.WebhookInfo) {
	if h == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "  webhook %s: %s open; answers at %s\n", h.Host, text.Count(h.Open, "question"), h.Answers)
	if h.Error != "" {
		_, _ = fmt.Fprintf(w, "  WEBHOOK UNAVAILABLE for %s, approvals stay open on other channels: %s\n", age(*h.Since), text.Escape(h.Error))
	}
}

// printAuditFile prints the path and the state of the audit file.
func printAuditFile(w io.Writer, a *operator.AuditInfo) {
	if a == nil {
		return
	}
	line := fmt.Sprintf("  audit log %s: %s", a.File, trail.Records(a.Records))
	if a.Rotated != nil {
		line += fmt.Sprintf("; %s rotated, the last %s ago", text.Count(a.Aside, "file"), age(*a.Rotated))
	}
	_, _ = fmt.Fprintln(w, line)
	if a.Error != "" {
		_, _ = fmt.Fprintf(w, "  AUDIT LOG FAILS, every call is refused: %s\n", text.Escape(a.Error))
	}
}

// printState prints where the proxy stores the states of its sessions, and the error if the
// database is not available.
func printState(w io.Writer, s operator.StateInfo) {
	if s.Driver == "memory" {
		return
	}
	line := fmt.Sprintf("  state in %s, %s", s.Driver, s.Place)
	if !s.Since.IsZero() {
		line += fmt.Sprintf(", open for %s: %s; this is process %s", age(s.Since), text.Count(int(s.Records), "record"), s.Process)
	}
	_, _ = fmt.Fprintln(w, line)
	if s.Error != "" {
		_, _ = fmt.Fprintf(w, "  STATE UNAVAILABLE, every call is refused: %s\n", s.Error)
	}
}

// printUnknown prints the calls that have an unknown outcome. If only an operator can set the
// outcome, it also prints the command that sets it.
func printUnknown(w io.Writer, s operator.StateInfo) {
	for _, call := range s.Unknown {
		if call.Outcome != "" {
			_, _ = fmt.Fprintf(w, "  unknown: call #%d of %s in session %s, %s ago: its outcome, %s, could not be recorded; the proxy keeps retrying\n",
				call.Call, call.Tool, call.Session, age(call.Since), call.Outcome)
			continue
		}
		process := "process " + call.Process
		if call.Process == "" {
			process = "a process of an older version"
		}
		_, _ = fmt.Fprintf(w, "  unknown: call #%d of %s in session %s, %s ago, of %s, which has ended (petrigate sessions settle %s %d --success, or --failure)\n",
			call.Call, call.Tool, call.Session, age(call.Since), process, call.Session, call.Call)
	}
}

// printUpstream prints the state of an upstream. If the upstream is not up, it also prints the last
// output of its process.
func printUpstream(w io.Writer, u operator.UpstreamStatus) {
	line := "  upstream " + u.Name + " is " + u.State
	if u.Protocol != "" && u.State == "up" {
		line += ", protocol " + u.Protocol
	}
	if u.Sessions > 0 {
		line += ", and " + text.Count(u.Sessions, "session") + " of its own"
	}
	if u.Error != "" {
		line += ": " + u.Error
	}
	_, _ = fmt.Fprintln(w, line+LastWords(u, "      "))
}

// Stopped describes a stop, that is, an operator's order to refuse all calls or those of one
// session. The description names the operator, the time, the reason, and the command that ends the
// stop.
func Stopped(s operator.StopInfo) string {
	what, again := "all calls are refused", "petrigate start"
	if s.Session != "" {
		what, again = "the calls of session "+s.Session+" are refused", "petrigate start --session "+s.Session
	}
	if s.Alone {
		what += " by this proxy only (the stop is not in the database yet)"
	}
	return fmt.Sprintf("%s since %s, by %s: %s (%s)", what, s.Since.Format(time.RFC3339), s.Actor, cmp.Or(text.Escape(s.Reason), "no reason given"), again)
}

// age formats the time since an event.
func age(since time.Time) string { return time.Since(since).Round(time.Second).String() }
