// Package terminal asks the person at a terminal about calls that wait for approval.
//
// A yes-or-no question accepts input only after it has been visible for a moment. Everything typed
// earlier is discarded. An empty line, the end of the input, and a signal never count as yes. Other
// questions, for example about the reason for a denial or about a PIN, accept input at once.
//
// Each answer about a call carries a digest of the displayed question. The proxy rejects the answer
// if the question has changed in the meantime.
//
// [Watch] asks about each approval of all running proxies, one after the other; [Confirm], [Agree]
// and [Secret] ask a single question. [Stream] prints approvals as JSON for programs.
//
// One goroutine reads from the terminal, one looks for running proxies, and for each proxy one
// goroutine follows its approvals. They send lines of input and approvals to the goroutine of the
// caller. Only that goroutine prints and sends answers.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
)

// errNoTerminal means that the input is not a terminal. Without a terminal, an answer cannot be
// distinguished from input that was sent before the question was asked.
var errNoTerminal = errors.New("standard input is not a terminal")

// ErrNotApproved is returned by [Confirm] if the person did not answer yes.
var ErrNotApproved = errors.New("not approved; the call is still pending")

// armDelay is how long a question must be visible before answers count. Input typed earlier may
// have been meant as an answer to the previous question.
const armDelay = 500 * time.Millisecond

// Is reports whether stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the width of the terminal w in columns, or 0 if w is not a terminal.
func Width(w any) int {
	if !Is(w) {
		return 0
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Confirm asks a question at the terminal and returns nil if the person answers yes. For any other
// answer, and at the end of the input, it returns ErrNotApproved.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) error {
	return confirm(ctx, in, out, question, "Approve? [y/N] ")
}

// Agree asks a yes-or-no question about text that has already been printed. Any answer other than
// yes means no.
func Agree(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
	err := confirm(ctx, in, out, "", question+" [y/N] ")
	if errors.Is(err, ErrNotApproved) {
		return false, nil
	}
	return err == nil, err
}

func confirm(ctx context.Context, in io.Reader, out io.Writer, question, prompt string) error {
	t, err := openTerminal(in)
	if err != nil {
		return err
	}
	defer t.close()
	_, _ = fmt.Fprintln(out, question)
	if err := t.arm(ctx); err != nil {
		return err
	}
	_, _ = fmt.Fprint(out, prompt)
	for {
		select {
		case <-ctx.Done():
			_, _ = fmt.Fprintln(out)
			return ctx.Err()
		case line := <-t.lines:
			if line.err != nil {
				_, _ = fmt.Fprintln(out)
				return ErrNotApproved
			}
			if !t.isCurrent(line) {
				continue
			}
			if word := strings.ToLower(strings.TrimSpace(line.text)); word != "y" && word != "yes" {
				return ErrNotApproved
			}
			return nil
		}
	}
}

// Secret reads a line from the terminal without echoing it.
func Secret(ctx context.Context, in io.Reader, out io.Writer, prompt string) (string, error) {
	t, err := openTerminal(in)
	if err != nil {
		return "", err
	}
	defer t.close()
	if err := t.setHidden(true); err != nil {
		return "", fmt.Errorf("hiding input: %w", err)
	}
	defer func() {
		_ = t.setHidden(false) // turning the echo on cannot fail if turning it off succeeded
		_, _ = fmt.Fprintln(out)
	}()
	_, _ = fmt.Fprint(out, prompt)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-t.lines:
		return line.text, line.err
	}
}

// arm waits until a question has been visible for armDelay. It discards all input typed until then.
func (t *terminal) arm(ctx context.Context) error {
	visible := time.After(armDelay)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line := <-t.lines:
			if line.err != nil {
				return ErrNotApproved
			}
		case <-visible:
			return t.discard()
		}
	}
}

// Answer sends the answer to the approval a and prints the result to w. The approval must be in the
// state that was displayed to the person.
func Answer(w io.Writer, client *control.Client, a operator.ApprovalInfo, answer control.Answer) error {
	answer.Shown = a.Shown
	if err := client.Resolve(a.ID, answer); err != nil {
		return err
	}
	if now, err := client.Approval(a.ID); err == nil {
		a = now
	}
	past := map[bool]string{true: "approved", false: "denied"}[answer.Approve]
	_, err := fmt.Fprintf(w, "%s %s: %s on %s\n%s\n", a.ID, past, text.Escape(a.Tool), text.Escape(a.Upstream), answerEffect(a, answer.Approve))
	if err == nil && answer.Grant != nil {
		_, err = fmt.Fprintf(w, "Similar calls pass for %s. petrigate approvals grants lists the grant, approvals revoke ends it.\n", answer.Grant.Span())
	}
	return err
}

// answerEffect returns a sentence about the effect of the answer on the call, for example that the
// call continues.
func answerEffect(a operator.ApprovalInfo, approve bool) string {
	switch {
	case !approve:
		return "The agent sees the denial. The same call in its session is refused for " + FormatTimeLeft(a.Stands) + ", without a question."
	case a.State == operator.Pending:
		return fmt.Sprintf("It has %d of the %s that it needs, and is waiting for another one.", a.Approvals, text.Count(a.Needs, "approval"))
	default:
		return "The call continues if it is still waiting. Otherwise the same call passes once, within " + FormatTimeLeft(a.Expires) + "."
	}
}

// FormatTimeLeft formats the time that remains until the given time.
func FormatTimeLeft(until time.Time) string { return text.Duration(max(0, time.Until(until))) }

// FormatApproval formats an approval and its state for display.
func FormatApproval(a operator.ApprovalInfo) string {
	state := a.State.Word()
	if a.State == operator.Consumed {
		state = "approved and used"
	}
	shown := fmt.Sprintf("%s\nState: %s%s", a.Question, state, describeAnswer(a))
	for _, r := range a.Rejections {
		shown += fmt.Sprintf("\nNot counted, at %s: %s", r.At.Local().Format("15:04:05"), r)
		if r.Reason != "" {
			shown += fmt.Sprintf(": %q", r.Reason)
		}
	}
	return shown
}

// describeAnswer returns text that contains the name of the person who answered an approval, the
// approval channel, and the reason. It leaves out unknown parts.
func describeAnswer(a operator.ApprovalInfo) string {
	var by string
	if a.Actor != "" {
		by = ", by " + text.Escape(a.Actor)
	}
	if a.Channel != "" {
		by += ", via " + a.Channel
	}
	if a.Reason != "" {
		by += fmt.Sprintf(": %q", a.Reason)
	}
	return by
}
