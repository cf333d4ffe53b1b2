package terminal

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
)

// Watch asks the person at the terminal about the approvals of all proxies that have a socket in
// dir. It returns when the person quits, the input ends, or ctx is done. It records actor as the
// name of the person who answers.
func Watch(ctx context.Context, dir string, in io.Reader, out io.Writer, actor string) error {
	t, err := openTerminal(in)
	if err != nil {
		return err
	}
	defer t.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &watch{out: out, terminal: t, actor: actor, overview: overview{}, done: map[string]bool{}}
	defer w.endPIN()
	return w.run(ctx, dir)
}

// run asks about approvals until the person quits, the input ends, or ctx is done.
func (w *watch) run(ctx context.Context, dir string) error {
	told := follow(ctx, dir)
	look := time.After(scanInterval) // when this timer fires, print that no proxy is running, unless one has been found
	for {
		select {
		case <-ctx.Done():
			w.say("\n")
			return ctx.Err()
		case <-look:
			w.ask()
		case n := <-told:
			if n.err != nil {
				return n.err
			}
			w.overview.apply(n)
			w.checkShown()
			w.ask()
		case <-w.armed:
			if err := w.terminal.discard(); err != nil {
				return err
			}
			w.armed = nil
			w.prompt()
		case line := <-w.terminal.lines:
			if line.err != nil {
				w.say("\n")
				return nil
			}
			if w.armed != nil || !w.terminal.isCurrent(line) {
				continue
			}
			if quit := w.answer(strings.TrimSpace(line.text)); quit {
				return nil
			}
			w.ask()
		}
	}
}

// checkShown prints any change to the displayed approval. If the approval no longer waits for an
// answer, checkShown stops displaying it.
func (w *watch) checkShown() {
	if w.shown == nil {
		return
	}
	now, there := w.overview.all()[w.shown.ID]
	_, runs := w.overview[w.client.Path]
	switch {
	case !there || !runs && now.it.State == operator.Pending: // if another proxy has the same approval, the question will be shown again
		w.say("\n%s: its proxy has ended.\n", w.shown.ID)
		w.shown = nil
	case now.it.State != operator.Pending:
		w.say("\n%s\n", endText(now.it))
		w.shown = nil
	case now.it.Approvals != w.shown.Approvals:
		w.say("\n%s has %d of %s now.\n", w.shown.ID, now.it.Approvals, text.Count(now.it.Needs, "approval"))
		w.shown.Approvals = now.it.Approvals
		w.prompt()
	}
}

// endText returns a sentence about how an approval ended without an answer from this terminal.
func endText(a operator.ApprovalInfo) string {
	switch a.State {
	case operator.Expired:
		return a.ID + " has expired without an answer."
	case operator.Withdrawn:
		return a.ID + " was withdrawn: its call is no longer waiting."
	case operator.Denied:
		return a.ID + " was denied" + describeAnswer(a) + "."
	default:
		return a.ID + " was approved" + describeAnswer(a) + "."
	}
}

// ask displays the oldest pending approval, unless an approval is already displayed.
func (w *watch) ask() {
	if w.shown != nil {
		return
	}
	w.endPIN()
	w.stage, w.armed = atCall, nil
	var open []locatedApproval
	for id, o := range w.overview.all() {
		if o.it.State == operator.Pending && !w.done[id] {
			open = append(open, o)
		}
	}
	if len(open) == 0 {
		w.showIdle()
		return
	}
	slices.SortFunc(open, func(a, b locatedApproval) int { return compareAge(a.it, b.it) })
	next := open[0]
	a, err := next.client.Approval(next.it.ID)
	if err != nil || a.State != operator.Pending { // the approval or its proxy has just changed, so an update is about to arrive
		w.done[next.it.ID] = err == nil
		return
	}
	w.idle = ""
	w.shown, w.client = &a, next.client
	more := ""
	if n := len(open) - 1; n > 0 {
		more = fmt.Sprintf(" (%d more pending)", n)
	}
	w.say("\n%s%s\n", FormatApproval(a), more)
	w.armed = time.After(armDelay)
}

// showIdle prints that no proxy is running or that no approval is pending. It does not print the
// same text twice in a row.
func (w *watch) showIdle() {
	idle := "No proxy is running; waiting for one. q quits.\n"
	if n := len(w.overview); n > 0 {
		idle = fmt.Sprintf("No pending calls (running proxies: %d). q quits.\n", n)
	}
	if idle != w.idle {
		w.idle = idle
		w.say("%s", idle)
	}
}

// answer handles a line of input as the answer to the current question, or as a command. It reports
// whether the person wants to quit.
func (w *watch) answer(line string) (quit bool) {
	word, rest, _ := strings.Cut(line, " ")
	word, rest = strings.ToLower(word), strings.TrimSpace(rest)
	switch {
	case w.stage == atPIN:
		w.readPIN(line)
	case w.stage == atReason:
		w.submit(control.Answer{Reason: line})
	case w.stage != atCall:
		w.readGrant(line)
	case rest == "" && (word == "q" || word == "quit"):
		return true
	case w.shown == nil:
	case rest == "" && (word == "y" || word == "yes"):
		w.submit(control.Answer{Approve: true})
	case (word == "n" || word == "no") && rest == "":
		w.stage = atReason
		w.prompt()
	case word == "n" || word == "no":
		w.submit(control.Answer{Reason: strings.TrimPrefix(rest, "because ")})
	case rest == "" && (word == "g" || word == "grant"):
		w.startGrant()
	case rest == "" && (word == "s" || word == "skip"):
		w.say("%s is still pending; petrigate approvals shows it.\n", w.shown.ID)
		w.done[w.shown.ID], w.shown = true, nil
	default:
		w.prompt()
	}
	return false
}
