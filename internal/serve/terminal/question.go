package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
)

// A watch asks the person at a terminal about pending approvals, one at a time.
type watch struct {
	out      io.Writer
	terminal *terminal
	actor    string
	overview overview
	done     map[string]bool // IDs of approvals that were skipped or answered at this terminal

	shown         *operator.ApprovalInfo // the displayed approval; nil if none is displayed
	client        *control.Client        // client for a proxy that reported the displayed approval
	stage         stage                  // current question about the displayed approval
	grant         operator.Grant         // grant that the person is describing
	pendingAnswer control.Answer         // answer that will be sent when the person has typed the PIN
	armed         <-chan time.Time       // receives a value once the question has been visible for armDelay; nil after that
	idle          string                 // last text printed by showIdle; prevents showIdle from printing the same text twice in a row
}

func (w *watch) say(format string, args ...any) { _, _ = fmt.Fprintf(w.out, format, args...) }

// A stage identifies the question that the person is currently asked.
type stage int

const (
	atCall   stage = iota // whether to approve the call
	atReason              // why the call is denied
	atSpan                // how long to allow similar calls
	atLike                // which arguments must stay the same
	atGrant               // whether to create the grant
	atPIN                 // the PIN for the pending answer
)

func (w *watch) prompt() {
	if w.shown == nil || w.armed != nil {
		return
	}
	switch w.stage {
	case atPIN:
		w.say("PIN (Enter: back): ")
	case atReason:
		w.say("Reason, for the agent (Enter: none): ")
	case atSpan:
		w.say("Allow similar calls for how long? 10m, or session (Enter: back): ")
	case atLike:
		w.say("Which arguments must stay the same? Comma-separated, of: %s (Enter: all): ", w.argumentNames())
	case atGrant:
		w.say("Approve it with this grant? [y/N] ")
	case atCall:
		w.say("Approve? y, n [REASON], g (and similar calls), s (skip), q (quit): ")
	}
}

// argumentNames lists the names of the displayed call's arguments.
func (w *watch) argumentNames() string {
	var all map[string]json.RawMessage
	if json.Unmarshal(w.shown.Arguments, &all) != nil || len(all) == 0 {
		return "none"
	}
	return strings.Join(text.EscapeAll(slices.Sorted(maps.Keys(all))), ", ")
}

// submit sends the answer to the displayed approval. If the proxy refuses the grant, the question
// stays open.
func (w *watch) submit(a control.Answer) {
	if a.Approve && w.shown.PIN && a.PIN == "" {
		w.askPIN(a)
		return
	}
	a.Actor = w.actor
	err := Answer(w.out, w.client, *w.shown, a)
	if err != nil {
		w.say("%v\n", err)
	}
	if now, look := w.client.Approval(w.shown.ID); err != nil && (a.Grant != nil || a.PIN != "") && look == nil && now.State == operator.Pending {
		w.stage = atCall
		w.prompt()
		return
	}
	w.done[w.shown.ID] = true
	w.shown = nil
}

// askPIN asks for the PIN that the answer requires. The PIN is not echoed.
func (w *watch) askPIN(a control.Answer) {
	w.pendingAnswer, w.stage = a, atPIN
	if err := w.terminal.setHidden(true); err != nil {
		w.say("Cannot prompt for the PIN here: %v\n", err)
		w.stage = atCall
	}
	w.prompt()
}

// readPIN sends the pending answer with the PIN. If the PIN is empty, it sends nothing.
func (w *watch) readPIN(line string) {
	w.endPIN()
	a := w.pendingAnswer
	if a.PIN = line; a.PIN == "" {
		w.prompt()
		return
	}
	w.submit(a)
}

// endPIN turns the echo on again if it is off.
func (w *watch) endPIN() {
	if w.stage == atPIN {
		_ = w.terminal.setHidden(false) // turning the echo on cannot fail if turning it off succeeded
		w.say("\n")
		w.stage = atCall
	}
}
