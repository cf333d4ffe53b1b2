package terminal

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// PrintApprovals prints the pending approvals, followed by the approvals that have ended. It prints
// the pending approvals in the given order and the others in reverse order. Proxies list approvals
// oldest first, so the pending approvals are printed oldest first and the others newest first.
func PrintApprovals(w io.Writer, pending, ended []operator.ApprovalInfo) error {
	var b strings.Builder
	width := Width(w)
	switch {
	case len(pending) > 0:
		writeCalls(&b, width, "ID|STATE|LEFT|ASKED BY|RULE", pending, pendingRow)
		if Is(w) {
			b.WriteString("\nTo answer one: petrigate approvals approve ID, or deny ID.\nTo answer them as they come in: petrigate approvals watch\n")
		}
	case len(ended) > 0:
		b.WriteString("no pending approvals\n")
	default:
		b.WriteString("no approvals\n")
	}
	if len(ended) > 0 {
		ended = slices.Clone(ended)
		slices.Reverse(ended)
		b.WriteByte('\n')
		writeCalls(&b, width, "ID|STATE|ANSWERED BY|VIA|WHEN", ended, settledRow)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// pendingRow returns the table row for a pending approval, without the column that shows the call.
func pendingRow(a operator.ApprovalInfo) []string {
	rule := "-"
	if len(a.Rules) > 0 {
		rule = text.Excerpt(a.Rules[0], 60)
	}
	if more := len(a.Rules) - 1; more > 0 {
		rule += fmt.Sprintf(" +%d", more)
	}
	return []string{a.ID, stateOf(a), FormatTimeLeft(a.Expires), text.Caller(a.Principal, a.Client, 30), rule}
}

// settledRow returns the table row for an approval that was answered or ended without an answer.
// The row lacks the column that shows the call.
func settledRow(a operator.ApprovalInfo) []string {
	when := "-"
	if !a.Answered.IsZero() {
		when = Age(a.Answered) + " ago"
	}
	return []string{a.ID, stateOf(a), text.Excerpt(cmp.Or(a.Actor, "-"), 40), cmp.Or(a.Channel, "-"), when}
}

// stateOf returns the text for the state of an approval. If the approval is pending and several
// people must approve, the text includes the number of people who have approved.
func stateOf(a operator.ApprovalInfo) string {
	if a.Needs > 1 && a.State == operator.Pending {
		return fmt.Sprintf("%s %d/%d", a.State, a.Approvals, a.Needs)
	}
	return a.State.Word()
}

// minCallWidth is the minimum width of the call column.
const minCallWidth = 24

// writeCalls writes a table of approvals whose last column shows the calls. If possible, it
// shortens the calls so that the table fits the terminal's width. If width is 0, it shortens them
// to a fixed length.
func writeCalls(b *strings.Builder, width int, head string, all []operator.ApprovalInfo, row func(operator.ApprovalInfo) []string) {
	rows, used := list.Map(all, row), 0
	widths := list.Map(strings.Split(head, "|"), func(title string) int { return len(title) })
	for _, cells := range rows {
		for n, cell := range cells {
			widths[n] = max(widths[n], utf8.RuneCountInString(cell))
		}
	}
	for _, column := range widths {
		used += column + 2
	}
	room := 160
	if width > 0 {
		room = max(width-used, minCallWidth)
	}
	for i, a := range all {
		rows[i] = append(rows[i], callLine(a, room))
	}
	_ = text.Table(b, "", head+"|CALL", rows) // writing to a builder never fails
}

// callLine formats a call. If possible, it shortens the arguments so that the line fits in the
// given number of columns.
func callLine(a operator.ApprovalInfo, columns int) string {
	name := text.Excerpt(a.Upstream+"."+a.Tool, 80)
	size := ""
	if a.Size > 0 {
		size = fmt.Sprintf(" (%s)", text.Count(a.Size, "byte"))
	}
	does := text.Command(a.Arguments)
	switch {
	case does == "" && bytes.HasPrefix(a.Arguments, []byte("{")):
		does = "{}"
	case does == "":
		return name + size
	}
	return name + " " + Fit(does, max(columns-utf8.RuneCountInString(name)-len(size)-1, 8)) + size
}

// Fit escapes s and shortens it so that it occupies at most the given number of columns. If no part
// of s fits, it returns "...". It counts bytes, because a character never occupies more columns
// than it has bytes.
func Fit(s string, columns int) string {
	if whole := text.Escape(s); len(whole) <= columns {
		return whole
	}
	for limit := min(len(s)-1, columns); limit > 0; limit-- {
		if cut := text.Excerpt(s, limit); len(cut) <= columns {
			return cut
		}
	}
	return "..."
}

// Age formats the time that has passed since the given time.
func Age(since time.Time) string { return time.Since(since).Round(time.Second).String() }
