package approval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/jsondiff"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// Text returns the text that a person reads before answering: what would run, who requests it, and
// which rules require approval. It is plain text, identical for all channels. The format function
// returns the position of a rule as text.
func (s Record) Text(format func(gate.Position) string, now time.Time) string {
	b := s.question(format)
	s.writeSince(b, now)
	fmt.Fprintf(b, "\nApproval %s, ", s.Request.ID)
	if s.Request.Needs > 1 {
		fmt.Fprintf(b, "approved by %d of %d people, ", s.Answer.Approvals, s.Request.Needs)
	}
	if left := s.Request.Expires.Sub(now); s.Answer.State == Pending || s.Answer.State == Approved {
		fmt.Fprintf(b, "good for %s.", text.Duration(left))
	} else {
		fmt.Fprintf(b, "%s.", s.Answer.State)
	}
	return b.String()
}

// Shown returns a hash of the displayed text except for the parts that change with time. It
// identifies the text that an answer refers to.
func (s Record) Shown(where func(gate.Position) string) string {
	return audit.HashOf(s.Request.ID + "\n" + s.question(where).String())
}

// maxCaller is the maximum length of displayed principal and client names.
const maxCaller = 200

// question returns the part of the text that does not change while the request is pending.
func (s Record) question(where func(gate.Position) string) *strings.Builder {
	var b strings.Builder
	c := s.Call
	fmt.Fprintf(&b, "Allow %s?\n", c.Subject())
	for _, s := range s.Steps {
		fmt.Fprintf(&b, "Required by %s: %s (fires %s in net %s)\n",
			text.Escape(cmp.Or(where(s.Rule), "the policy")), text.Escape(s.Reason), text.Escape(s.Transition), text.Escape(s.Net))
	}
	if c.Principal != "" || c.Client != "" {
		fmt.Fprintf(&b, "Caller: %s, session %s\n", text.Caller(c.Principal, c.Client, maxCaller), text.Escape(c.Session))
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "Warning: %s\n", text.Escape(w))
	}
	fmt.Fprintf(&b, "Arguments (%d bytes, sha256 %s):", c.Size, c.SHA256)
	if c.Dropped {
		b.WriteString(" not kept, because the call can no longer run.")
	} else {
		b.WriteString("\n" + indented(c.Shown()))
	}
	if ignored := c.ignoredPresent(); len(ignored) > 0 {
		fmt.Fprintf(&b, "\nThe answer covers any value of: %s", text.Escape(strings.Join(ignored, ", ")))
	}
	writeBeside(&b, "In addition to the arguments", c.Beside)
	writeBeside(&b, "In _meta", c.ShownMeta())
	if c.Masked > 0 {
		fmt.Fprintf(&b, "\nMasked by approval.mask: %s. The sha256 is of the forwarded arguments.", text.Count(c.Masked, "value"))
	}
	return &b
}

// writeBeside writes an object that is forwarded in addition to the arguments.
func writeBeside(b *strings.Builder, what string, object []byte) {
	if object == nil {
		return
	}
	fmt.Fprintf(b, "\n%s:\n%s", what, indented(object))
}

// writeSince describes how the arguments differ from those of the last approved call.
func (s Record) writeSince(b *strings.Builder, now time.Time) {
	c := s.Since
	if c == nil {
		return
	}
	fmt.Fprintf(b, "\n%s was last approved %s ago (%s)", text.Escape(s.Call.Tool), text.Duration(max(0, now.Sub(c.At))), text.Escape(c.Approval))
	if c.Redefined {
		b.WriteString(", with a different definition")
	}
	switch {
	case c.TooLong:
		fmt.Fprintf(b, ". Arguments of more than %d bytes are not compared.", maxCompared)
		return
	case len(c.Changes) == 0:
		b.WriteString(", with the same arguments.")
		return
	}
	b.WriteString(". Since then:")
	for _, change := range c.Changes {
		fmt.Fprintf(b, "\n  %s: %s", jsondiff.Brief(change.Path), change)
	}
	if c.More > 0 {
		fmt.Fprintf(b, "\n  and %s", text.Count(c.More, "more change"))
	}
}

// indented formats a JSON object with each member on its own line.
func indented(object []byte) string {
	b := bytes.NewBufferString("  ")
	if object = text.PlainJSON(object); json.Indent(b, object, "  ", "  ") != nil {
		b.Write(object)
	}
	return text.EscapeLines(b.Bytes())
}

// clip returns s if it is at most n bytes long. Otherwise it returns the first n bytes of s and a
// note with the length of s.
func clip(s string, n int) string {
	if len(s) <= n {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:n], "") + fmt.Sprintf("... (%d bytes)", len(s))
}

const (
	maxKept   = 1 << 10 // maximum size in bytes of the content of an ended request, and of each of its names and reasons
	maxReason = 1 << 10 // maximum size in bytes of the reason for an answer

	recently = time.Minute // period covered by limit.recent, the limit on recent requests
)
