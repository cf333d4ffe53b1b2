// Package terminal asks the person at a terminal about calls that wait for approval.
//
// Only input typed after a question was shown answers the question: the input of the terminal is
// discarded after the question has been visible for a moment. Enter alone, the end of the input and
// a signal do not answer, and an answer carries the digest of the text that was shown.
//
// [Watch] asks about each approval of all running proxies, one after the other; [Confirm], [Agree]
// and [Secret] ask a single question. [Stream] prints approvals as JSON for programs.
//
// One goroutine reads the terminal and one per proxy follows its approvals; both send to the
// goroutine of the caller, which alone prints and answers.
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

// errNoTerminal: the input is not a terminal, so that input typed before a question cannot be
// distinguished from an answer.
var errNoTerminal = errors.New("standard input is not a terminal")

// ErrNotApproved is returned by [Confirm] if the person has not said yes.
var ErrNotApproved = errors.New("not approved; the call is still pending")

// armDelay is how long a question must be visible before an answer counts: a person who is typing
// an answer to the previous question has not read it yet.
const armDelay = 500 * time.Millisecond

// Is reports whether stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the number of columns of the terminal w, or 0 if w is not a terminal.
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

// Confirm shows a question at the terminal and waits for a yes typed after it. Any other answer is
// ErrNotApproved.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) error {
	return confirm(ctx, in, out, question, "Approve? [y/N] ")
}

// Agree asks a yes-or-no question at the terminal about text shown before. Any answer other than
// yes is a no.
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

// Secret reads a line from the terminal without echo.
func Secret(ctx context.Context, in io.Reader, out io.Writer, prompt string) (string, error) {
	t, err := openTerminal(in)
	if err != nil {
		return "", err
	}
	defer t.close()
	if err := t.hide(true); err != nil {
		return "", fmt.Errorf("hiding input: %w", err)
	}
	defer func() {
		_ = t.hide(false) // the echo could be turned off, so it can be turned on
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

// arm waits until a question has been visible for armDelay, and discards all input typed before
// that.
func (t *terminal) arm(ctx context.Context) error {
	timer := time.NewTimer(armDelay)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line := <-t.lines:
			if line.err != nil {
				return ErrNotApproved
			}
		case <-timer.C:
			return t.discard()
		}
	}
}

// Answer answers the approval a, in the state that the person has read, and prints the result to w.
func Answer(w io.Writer, client *control.Client, a operator.ApprovalInfo, answer control.Answer) error {
	answer.Shown = a.Shown
	if err := client.Resolve(a.ID, answer); err != nil {
		return err
	}
	if now, err := client.Approval(a.ID); err == nil {
		a = now
	}
	past := map[bool]string{true: "approved", false: "denied"}[answer.Approve]
	_, err := fmt.Fprintf(w, "%s %s: %s on %s\n%s\n", a.ID, past, text.Escape(a.Tool), text.Escape(a.Upstream), afterAnswer(a, answer.Approve))
	if err == nil && answer.Grant != nil {
		_, err = fmt.Fprintf(w, "Similar calls pass for %s. petrigate approvals grants lists the grant, approvals revoke ends it.\n", answer.Grant.Span())
	}
	return err
}

// afterAnswer describes what happens after an answer.
func afterAnswer(a operator.ApprovalInfo, approve bool) string {
	switch {
	case !approve:
		return "The agent sees the denial. The same call of its session is refused for " + Left(a.Stands) + ", without a question."
	case a.State == operator.Pending:
		return fmt.Sprintf("It has %d of the %s that it needs, and waits for another one.", a.Approvals, text.Count(a.Needs, "approval"))
	default:
		return "The call continues if it is still waiting. Otherwise the same call passes once, within " + Left(a.Expires) + "."
	}
}

// Left formats the time that is left.
func Left(until time.Time) string { return text.Duration(max(0, time.Until(until))) }

// Shown formats an approval for a person, with its state.
func Shown(a operator.ApprovalInfo) string {
	state := a.State.Word()
	if a.State == operator.Consumed {
		state = "approved and used"
	}
	shown := fmt.Sprintf("%s\nState: %s%s", a.Question, state, answered(a))
	for _, r := range a.Rejections {
		shown += fmt.Sprintf("\nNot counted, at %s: %s", r.At.Local().Format("15:04:05"), r)
		if r.Reason != "" {
			shown += fmt.Sprintf(": %q", r.Reason)
		}
	}
	return shown
}

// answered describes who answered, and how.
func answered(a operator.ApprovalInfo) string {
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
